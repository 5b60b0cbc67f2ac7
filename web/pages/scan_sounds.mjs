// SPDX-License-Identifier: Apache-2.0
// A sound and a vibration for each result: staff at a gate look at the holder, not at the phone.

/** [Hz, milliseconds] one after the other; 0 Hz: silence. */
const melodies = {
  admitted: [
    [880, 90],
    [1320, 160],
  ],
  exit: [
    [1320, 90],
    [880, 160],
  ],
  already_in: [
    [220, 180],
    [0, 60],
    [220, 180],
  ],
  cancelled: [[180, 500]],
  refund_pending: [[180, 500]],
  transferred: [
    [300, 150],
    [200, 300],
  ],
  wrong_list: [
    [400, 120],
    [0, 50],
    [400, 120],
    [0, 50],
    [400, 120],
  ],
  not_here: [
    [400, 120],
    [0, 50],
    [300, 250],
  ],
  too_many: [
    [250, 120],
    [0, 80],
    [250, 120],
    [0, 80],
    [250, 120],
  ],
  revoked: [
    [200, 300],
    [0, 80],
    [160, 500],
  ],
  list_gone: [
    [500, 150],
    [350, 150],
    [200, 300],
  ],
  other: [[160, 350]],
};

let context = null;
let is_on = true;

/** Browsers let a page make sounds after a touch only. */
export function allow_sounds(on = true) {
  is_on = on;
  if (!on) return;
  context ??= globalThis.AudioContext ? new AudioContext() : null;
  context?.resume?.();
}

export function play(result) {
  const melody = melodies[result] ?? melodies.other;
  const is_good = result === 'admitted' || result === 'exit';
  navigator.vibrate?.(is_good ? 60 : [120, 60, 120]);
  if (!context || !is_on) return;
  let begin = context.currentTime;
  for (const [frequency, length] of melody) {
    if (frequency > 0) {
      const tone = context.createOscillator();
      const volume = context.createGain();
      tone.type = is_good ? 'sine' : 'square';
      tone.frequency.value = frequency;
      volume.gain.value = is_good ? 0.4 : 0.25;
      tone.connect(volume).connect(context.destination);
      tone.start(begin);
      tone.stop(begin + length / 1000);
    }
    begin += length / 1000;
  }
}
