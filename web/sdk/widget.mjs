// SPDX-License-Identifier: Apache-2.0
// <fair-queue server queue key [lang]>: the SDK as a custom element for any site. A constructed style sheet
// keeps a strict CSP possible: it needs only this script and connect-src to the server. Dispatches `admitted`
// with the place.
import texts_by_language from 'widget-texts';
import { counted, number_text, wait_text } from './estimate.mjs';
import { FairQueue } from './fairqueue.mjs';

const style = `:host{display:block;font:1rem/1.5 system-ui,sans-serif;color:var(--fair-queue-ink,#17132b)}
section{padding:1.25rem;border-radius:1rem;background:var(--fair-queue-paper,#f4f2fb);text-align:center}
p{margin:.25rem 0}[part=number]{font-size:3.5rem;line-height:1.1;font-weight:800;font-variant-numeric:tabular-nums}
button{font:inherit;font-weight:600;min-height:2.75rem;padding:.5rem 1.5rem;border:0;border-radius:2rem;cursor:pointer;
background:var(--fair-queue-accent,#3a2a8c);color:var(--fair-queue-on-accent,#fff)}
button:focus-visible{outline:3px solid currentColor;outline-offset:3px}[part=leave]{background:none;color:inherit;text-decoration:underline;font-weight:400}
[hidden]{display:none}`;

const language_of = (tag) => [tag, tag?.split('-')[0]].find((t) => texts_by_language[t]);

/** By the status of a lobby that is no longer open. */
const texts_of_closed = { CLOSED: 'lobby_closed', WAITS_FOR_BEACON: 'lobby_beacon' };

export class FairQueueElement extends HTMLElement {
  #line;
  #parts = {};
  #texts;
  #language;

  connectedCallback() {
    const wanted = [this.lang, this.closest('[lang]')?.lang, ...navigator.languages, 'en'];
    this.#language = wanted.map(language_of).find(Boolean);
    this.#texts = texts_by_language[this.#language];
    if (!this.shadowRoot) this.#build();
    const get = (name) => this.getAttribute(name) ?? undefined;
    this.#line = new FairQueue({
      server: get('server'),
      queue: get('queue'),
      key: get('key'),
      subjectToken: get('subject-token'),
      event: get('event'),
      token: get('token'),
      solve: this.solve,
    });
    for (const name of ['change', 'admitted', 'end', 'connection'])
      this.#line.addEventListener(name, (event) => {
        this.#show();
        if (name !== 'change' || event.detail)
          this.dispatchEvent(new CustomEvent(name, { detail: event.detail, bubbles: true }));
      });
    this.#show();
    this.#line.resume().catch(() => {});
  }

  disconnectedCallback() {
    this.#line.close();
  }

  /** The SDK object of this element. */
  get line() {
    return this.#line;
  }

  #build() {
    const root = this.attachShadow({ mode: 'open' });
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(style);
    root.adoptedStyleSheets = [sheet];
    const add = (tag, part, to = this.#parts.section) => {
      const element = document.createElement(tag);
      element.setAttribute('part', part);
      to.append(element);
      this.#parts[part] = element;
      return element;
    };
    const section = add('section', 'section', root);
    section.lang = this.#language;
    section.dir = this.#language === 'ar' ? 'rtl' : 'ltr';
    add('p', 'label');
    add('p', 'number');
    add('p', 'status').setAttribute('role', 'status');
    add('p', 'wait');
    add('p', 'message');
    add('button', 'join').onclick = () => this.#do('join');
    add('button', 'leave').onclick = () => this.#do('leave');
    for (const button of [this.#parts.join, this.#parts.leave]) button.type = 'button';
  }

  async #do(what) {
    this.#parts.join.disabled = true;
    try {
      await this.#line[what]();
    } catch (no) {
      this.#set('status', (this.#texts[no.code] ?? this.#texts.widget_failed).other);
      this.dispatchEvent(new CustomEvent('refused', { detail: no, bubbles: true }));
    }
    this.#parts.join.disabled = false;
  }

  #set(part, text) {
    this.#parts[part].textContent = text ?? '';
    this.#parts[part].hidden = !text;
  }

  #show() {
    const [place, t, language] = [this.#line?.place, this.#texts, this.#language];
    const waits = place?.status === 'WAITING' || place?.status === 'AWAY';
    const admitted = place?.status === 'ADMITTED';
    const lobby = waits && place.lobby; // then it has no position
    this.#set('label', waits && (lobby ? t.lobby_people : t.place_label).other);
    this.#set('number', waits && number_text(language, lobby ? lobby.people : place.position));
    this.#set(
      'wait',
      waits && !lobby && !place.paused && `${t.wait_label.other}: ${wait_text(t, language, place.eta)}`,
    );
    this.#set('message', waits && place.message);
    this.#set('join', !waits && !admitted && t.join.other);
    this.#set('leave', waits && t.leave.other);
    let status = waits && (place.ahead ? counted(t, language, 'ahead', place.ahead) : t.next.other);
    if (lobby) {
      const of_open = lobby.draw === 'none' ? 'lobby_number' : 'lobby_draw';
      status = t[texts_of_closed[lobby.status] ?? of_open].other;
    }
    if (waits && place.paused) status = t.paused.other;
    if (admitted) status = t.your_turn.other;
    if (status !== this.#parts.status.textContent) this.#set('status', status);
  }
}

if (!customElements.get('fair-queue')) customElements.define('fair-queue', FairQueueElement);
export { FairQueue };
