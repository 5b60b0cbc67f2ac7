// SPDX-License-Identifier: Apache-2.0
// Fills the boxes of challenges in the pages' forms: ALTCHA's widget with a worker of our own, so that the
// strict policy of the pages holds, or the captcha of a provider. Pages load it only where there is a box.
import 'altcha/external';
import style from 'altcha/altcha.css';

const sheet = new CSSStyleSheet();
sheet.replaceSync(
  `${style}.challenge{margin-block:.75rem;--altcha-border-radius:.5rem;--altcha-color-error-text:currentColor}`,
);

/** It starts with the form's submission: a visitor who does not join does not work. */
function show_work(box, { url, worker, label, verifying, verified, failed, expired, wait }) {
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
  const widget = document.createElement('altcha-widget');
  const attributes = {
    name: 'challenge',
    challengeurl: url,
    workerurl: worker,
    auto: 'onsubmit',
    hidefooter: '',
    hidelogo: '',
    disableautofocus: '',
    strings: JSON.stringify({
      label,
      verifying,
      verified,
      error: failed,
      expired,
      waitAlert: wait,
      verificationRequired: label,
    }),
  };
  for (const [name, value] of Object.entries(attributes)) widget.setAttribute(name, value);
  box.append(widget);
}

const load = (src) =>
  new Promise((loaded, failed) => {
    const script = document.createElement('script');
    Object.assign(script, { src, async: true, onload: loaded, onerror: failed });
    document.head.append(script);
  });

/** The answer goes with the form; the server asks the provider about it. */
async function show_captcha(box, { challenge, origin, siteKey, action, of, failed }) {
  const field = document.createElement('input');
  Object.assign(field, { type: 'hidden', name: 'captcha' });
  const place = document.createElement('div');
  box.append(place, field);
  const take = (answer = '') => (field.value = answer);
  const common = { 'sitekey': siteKey, 'callback': take, 'expired-callback': () => take() };
  try {
    if (challenge === 'turnstile') {
      await load(`${origin}/turnstile/v0/api.js?render=explicit`);
      window.turnstile.render(place, { ...common, action, 'cData': of, 'response-field': false });
    } else {
      await load(`${origin}/1/api.js?render=explicit&recaptchacompat=off`);
      window.hcaptcha.render(place, common);
    }
  } catch {
    place.textContent = failed;
    place.setAttribute('role', 'status');
  }
}

for (const box of document.querySelectorAll('[data-challenge]'))
  (box.dataset.challenge === 'proof_of_work' ? show_work : show_captcha)(box, box.dataset);
