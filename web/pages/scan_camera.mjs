// SPDX-License-Identifier: Apache-2.0
// The camera: frames to codes, by the browser's BarcodeDetector or, where there is none, by our own decoder.

const pause_ms = 120; // between two frames: eight a second are enough, and spare the battery
const side_max = 720; // pixels: a code that fills the frame has 57 modules

async function detector_for(decoder_url) {
  const has_qr = (await globalThis.BarcodeDetector?.getSupportedFormats?.())?.includes('qr_code');
  if (has_qr) {
    const detector = new globalThis.BarcodeDetector({ formats: ['qr_code'] });
    return async (video) => (await detector.detect(video))[0]?.rawValue ?? null;
  }
  const { decode } = await import(decoder_url);
  const canvas = document.createElement('canvas');
  const context = canvas.getContext('2d', { willReadFrequently: true });
  return async (video) => {
    const scale = Math.min(1, side_max / Math.max(video.videoWidth, video.videoHeight));
    canvas.width = Math.round(video.videoWidth * scale);
    canvas.height = Math.round(video.videoHeight * scale);
    if (canvas.width === 0 || canvas.height === 0) return null;
    context.drawImage(video, 0, 0, canvas.width, canvas.height);
    return decode(context.getImageData(0, 0, canvas.width, canvas.height));
  };
}

/** Starts the camera; `on_code(text)` for each frame with a code. {stop, torch}; torch null: has none. */
export async function start_camera(video, decoder_url, on_code) {
  const stream = await navigator.mediaDevices.getUserMedia({
    video: { facingMode: 'environment', width: { ideal: 1280 } },
    audio: false,
  });
  const [track] = stream.getVideoTracks();
  video.srcObject = stream;
  await video.play();
  const detect = await detector_for(decoder_url);
  let runs = true;
  const look = async () => {
    if (!runs) return;
    try {
      const text = document.hidden ? null : await detect(video);
      if (text && runs) await on_code(text);
    } catch {
      // a frame that could not be read: the next one follows
    }
    setTimeout(look, pause_ms);
  };
  look();
  const has_torch = Boolean(track.getCapabilities?.().torch);
  return {
    torch: has_torch ? (on) => track.applyConstraints({ advanced: [{ torch: on }] }) : null,
    stop() {
      runs = false;
      stream.getTracks().forEach((one) => one.stop());
      video.srcObject = null;
    },
  };
}
