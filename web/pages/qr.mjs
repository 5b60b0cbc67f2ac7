// SPDX-License-Identifier: Apache-2.0
// QR codes of rotating codes, which a page makes without a network. The server draws all others.
import { qrcode } from 'qrcode-generator';

const version = 4; // with correction level L: 78 to 114 characters of the alphanumeric set, 33 modules wide

/** The dark modules as an SVG path, as net/pages/qr_svg writes them; the view box is from -4, 41 wide. */
export function qr_path(text) {
  const code = qrcode(version, 'L');
  code.addData(text, 'Alphanumeric');
  code.make();
  const size = code.getModuleCount();
  const row = (y) => Array.from({ length: size }, (_, x) => (code.isDark(y, x) ? 1 : 0)).join('');
  return Array.from({ length: size }, (_, y) =>
    [...row(y).matchAll(/1+/g)].map((run) => [run.index, y, run[0].length]),
  )
    .flat()
    .map(([x, y, length]) => `M${x},${y}h${length}v1h-${length}z`)
    .join('');
}
