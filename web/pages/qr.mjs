// SPDX-License-Identifier: Apache-2.0
// QR codes of rotating codes, which a page makes without a network: texts of 78 to 114 characters of the
// alphanumeric set, so version 4 with correction level L (ISO/IEC 18004). The server draws all others.

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ $%*+-./:';
const size = 33;
const data_bytes = 80;
const check_bytes = 20;

// GF(256) with the polynomial of QR codes.
const times_two = (n) => (n << 1) ^ (n & 0x80 ? 0x11d : 0);
function product(a, b) {
  let sum = 0;
  for (let power = a; b > 0; power = times_two(power), b >>= 1) if (b & 1) sum ^= power;
  return sum;
}

/** The remainder of the message by the Reed-Solomon generator. */
function check_of(data) {
  const generator = new Array(check_bytes).fill(0);
  generator[check_bytes - 1] = 1;
  for (let i = 0, root = 1; i < check_bytes; i += 1, root = times_two(root))
    for (let j = 0; j < check_bytes; j += 1)
      generator[j] = product(generator[j], root) ^ (generator[j + 1] ?? 0);
  const rest = new Array(check_bytes).fill(0);
  for (const byte of data) {
    const factor = byte ^ rest.shift();
    rest.push(0);
    generator.forEach((g, i) => {
      rest[i] ^= product(g, factor);
    });
  }
  return rest;
}

function bytes_of(text) {
  const bits = [];
  const put = (value, count) => {
    for (let i = count - 1; i >= 0; i -= 1) bits.push((value >> i) & 1);
  };
  put(0b0010, 4);
  put(text.length, 9);
  for (let i = 0; i < text.length; i += 2) {
    const first = alphabet.indexOf(text[i]);
    if (i + 1 < text.length) put(first * 45 + alphabet.indexOf(text[i + 1]), 11);
    else put(first, 6);
  }
  put(0, Math.min(4, data_bytes * 8 - bits.length));
  while (bits.length % 8 > 0) bits.push(0);
  const bytes = [];
  for (let i = 0; i < bits.length; i += 8) bytes.push(parseInt(bits.slice(i, i + 8).join(''), 2));
  for (let pad = 0xec; bytes.length < data_bytes; pad ^= 0xec ^ 0x11) bytes.push(pad);
  return [...bytes, ...check_of(bytes)];
}

/** Rows of modules that no data may use: 1 dark, 0 light; the others are undefined. */
function fixed_modules() {
  const rows = Array.from({ length: size }, () => new Array(size));
  const square = (middle_x, middle_y, reach, is_dark) => {
    for (let y = -reach; y <= reach; y += 1)
      for (let x = -reach; x <= reach; x += 1) {
        const row = rows[middle_y + y];
        const at = middle_x + x;
        if (row && at >= 0 && at < size) row[at] = is_dark(Math.max(Math.abs(x), Math.abs(y))) ? 1 : 0;
      }
  };
  for (let i = 0; i < size; i += 1) rows[6][i] = rows[i][6] = i % 2 === 0 ? 1 : 0;
  for (const [x, y] of [
    [3, 3],
    [size - 4, 3],
    [3, size - 4],
  ])
    square(x, y, 4, (ring) => ring !== 2 && ring !== 4);
  square(26, 26, 2, (ring) => ring !== 1);
  // Level L, mask 0, with the check bits of the standard's table.
  const format = 0b111011111000100;
  const bit = (i) => (format >> i) & 1;
  for (let i = 0; i < 15; i += 1) {
    const y = i < 6 ? i : i < 8 ? i + 1 : size - 15 + i;
    rows[y][8] = bit(i);
    const x = i < 8 ? size - 1 - i : i === 8 ? 7 : 14 - i;
    rows[8][x] = bit(i);
  }
  rows[size - 8][8] = 1;
  return rows;
}

/** Rows of 1 and 0, without the quiet zone. */
export function qr_modules(text) {
  const bytes = bytes_of(text);
  const rows = fixed_modules();
  const is_fixed = rows.map((row) => Array.from(row, (module) => module !== undefined));
  let at = 0;
  for (let right = size - 1; right > 0; right -= 2) {
    if (right === 6) right = 5;
    for (let step = 0; step < size; step += 1)
      for (const x of [right, right - 1]) {
        const is_upward = ((right + 1) & 2) === 0;
        const y = is_upward ? size - 1 - step : step;
        if (is_fixed[y][x]) continue;
        const bit = at < bytes.length * 8 ? (bytes[at >> 3] >> (7 - (at & 7))) & 1 : 0;
        rows[y][x] = bit ^ ((x + y) % 2 === 0 ? 1 : 0);
        at += 1;
      }
  }
  return rows;
}

/** The dark modules as an SVG path, as net/pages/qr_svg writes them; the view box is from -4, 41 wide. */
export const qr_path = (text) =>
  qr_modules(text)
    .flatMap((row, y) => [...row.join('').matchAll(/1+/g)].map(({ 0: run, index }) => [index, y, run.length]))
    .map(([x, y, length]) => `M${x},${y}h${length}v1h-${length}z`)
    .join('');
