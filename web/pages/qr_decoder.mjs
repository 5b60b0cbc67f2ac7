// SPDX-License-Identifier: Apache-2.0
// Decoder of QR codes for browsers without BarcodeDetector; loaded only there.
import jsQR from 'jsqr';

/** The text of the code in `image` (ImageData), or null. */
export const decode = ({ data, width, height }) =>
  jsQR(data, width, height, { inversionAttempts: 'dontInvert' })?.data ?? null;
