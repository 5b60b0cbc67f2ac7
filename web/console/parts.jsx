// SPDX-License-Identifier: Apache-2.0
// Parts of the views: headings that take the focus, problems, fields with errors, dialogs, tables. Two hooks:
// periodic loading, and a running action.
import { cloneElement } from 'preact';
import { useCallback, useEffect, useId, useRef, useState } from 'preact/hooks';
import { download, is_abort } from './api.mjs';
import { words } from './format.mjs';

// -- hooks ----------------------------------------------------------------------------------------------

const pause_max_ms = 15_000;

/**
 * Result of `load(signal)`, repeated every `every_ms` (0: once) while the page is visible. After failures the
 * intervals grow. The last result stays during a problem. `key` identifies the loaded object; a change starts
 * again.
 */
export function use_loaded(load, key, every_ms = 0) {
  const [state, set_state] = useState({ key, data: undefined, problem: null });
  const latest = useRef(load);
  latest.current = load;
  const again = useRef(() => {});
  useEffect(() => {
    const leaving = new AbortController();
    let timer;
    let failures = 0;
    let running = false;
    const run = async () => {
      clearTimeout(timer);
      if (running || leaving.signal.aborted) return;
      running = true;
      let pause = every_ms;
      try {
        const data = await latest.current(leaving.signal);
        failures = 0;
        if (!leaving.signal.aborted) set_state({ key, data, problem: null });
      } catch (problem) {
        if (leaving.signal.aborted || is_abort(problem)) return;
        ++failures;
        pause =
          every_ms && Math.max(problem.retry_after_ms ?? 0, Math.min(pause_max_ms, every_ms * 2 ** failures));
        set_state((before) => ({ key, data: before.key === key ? before.data : undefined, problem }));
      } finally {
        running = false;
      }
      if (pause && !document.hidden && !leaving.signal.aborted) timer = setTimeout(run, pause);
    };
    const seen = () => every_ms && !document.hidden && run();
    document.addEventListener('visibilitychange', seen);
    again.current = run;
    run();
    return () => {
      leaving.abort();
      clearTimeout(timer);
      document.removeEventListener('visibilitychange', seen);
    };
  }, [key, every_ms]);
  const refresh = useCallback(() => again.current(), []);
  const mine = state.key === key;
  return { data: mine ? state.data : undefined, problem: mine ? state.problem : null, refresh };
}

/**
 * The same for an object with id and updated_at: the answer to a change (`changed`) holds until a newer one
 * is loaded.
 */
export function use_thing(load, id, every_ms) {
  const loaded = use_loaded(load, id, every_ms);
  const [answered, set_answered] = useState(null);
  const newest =
    answered && (!loaded.data || answered.updated_at > loaded.data.updated_at) ? answered : loaded.data;
  return { ...loaded, data: newest?.id === id ? newest : undefined, changed: set_answered };
}

/**
 * `run(work)` runs one action at a time and returns whether it succeeded; `problem` has the reason if not.
 */
export function use_action() {
  const [state, set_state] = useState({ busy: false, problem: null });
  const busy = useRef(false);
  const gone = useRef(false);
  useEffect(() => () => void (gone.current = true), []);
  const run = useCallback(async (work) => {
    if (busy.current) return false;
    busy.current = true;
    set_state({ busy: true, problem: null });
    let problem = null;
    try {
      await work();
    } catch (error) {
      if (!is_abort(error)) problem = error;
    }
    busy.current = false;
    if (!gone.current) set_state({ busy: false, problem });
    return problem === null;
  }, []);
  return { ...state, run, forget: () => set_state({ busy: false, problem: null }) };
}

/**
 * A paged list of the API: `items`, and `more()` while there are more. A change of `key` starts again and
 * ignores running requests.
 */
export function use_pages(load_page, key) {
  const [state, set_state] = useState({ key, items: undefined, next: null, problem: null, busy: true });
  const latest = useRef(0);
  const load = async (cursor, before) => {
    const mine = ++latest.current;
    set_state((now) => ({ ...now, problem: null, busy: true }));
    try {
      const page = await load_page(cursor);
      if (mine === latest.current)
        set_state({
          key,
          items: [...before, ...page.items],
          next: page.next_cursor,
          problem: null,
          busy: false,
        });
    } catch (problem) {
      if (mine === latest.current) set_state((now) => ({ ...now, problem, busy: false }));
    }
  };
  useEffect(() => {
    load(null, []);
    return () => void ++latest.current;
  }, [key]);
  const is_mine = state.key === key;
  return {
    items: is_mine ? state.items : undefined,
    problem: state.problem,
    busy: state.busy,
    more: is_mine && state.next ? () => load(state.next, state.items) : null,
    refresh: () => load(null, []),
  };
}

// -- words ----------------------------------------------------------------------------------------------

let told = () => {};
/** Shows the result of an action for a while, and announces it to screen readers. */
export const tell = (text) => told(text);

export function Announcer() {
  const [text, set_text] = useState('');
  useEffect(() => {
    let timer;
    told = (next) => {
      clearTimeout(timer);
      set_text('');
      setTimeout(() => set_text(next), 50); // repeated texts are announced again
      timer = setTimeout(() => set_text(''), 8_000);
    };
  }, []);
  return (
    <div class="toast" role="status">
      {text && <p>{text}</p>}
    </div>
  );
}

/** The heading of a view. Sets the title of the window and takes the focus when the view opens. */
export function Heading({ children, title }) {
  const heading = useRef();
  useEffect(() => {
    document.title = `${title} · FairQueue console`;
    if (document.activeElement === document.body || document.activeElement?.closest('nav'))
      heading.current.focus();
  }, [title]);
  return (
    <h1 tabIndex={-1} ref={heading}>
      {children ?? title}
    </h1>
  );
}

export function ProblemNote({ problem, retry }) {
  if (!problem) return null;
  return (
    <div class="problem" role="alert">
      <p>
        <strong>{problem.message}</strong> {problem.detail}
      </p>
      {problem.fields?.size > 0 && (
        <ul>
          {[...problem.fields].map(([field, what]) => (
            <li key={field}>
              {field ? `${words(field.replace(/\[(\d+)\]\.?/g, (_, n) => ` ${Number(n) + 1} `))}: ` : ''}
              {what}
            </li>
          ))}
        </ul>
      )}
      {problem.request_id && <p class="small">For support: request {problem.request_id}</p>}
      {retry && (
        <button type="button" class="quiet-button" onClick={retry}>
          Try again
        </button>
      )}
    </div>
  );
}

const tones = {
  DRAFT: 'neutral',
  ACTIVE: 'good',
  PAUSED: 'warn',
  ENDED: 'neutral',
  CANCELLED: 'bad',
  success: 'good',
  failed: 'bad',
  cancelled: 'bad',
  pending: 'warn',
  awaiting_payment: 'warn',
  refunded: 'neutral',
  partially_refunded: 'warn',
  open: 'warn',
  ADMITTED: 'good',
  WAITING: 'warn',
  healthy: 'good',
  away: 'bad',
  REVOKED: 'bad',
  signed: 'good',
  behind: 'warn',
  unsigned: 'bad',
};
export const Badge = ({ name }) => <span class={`badge ${tones[name] ?? 'neutral'}`}>{words(name)}</span>;

/** Shown instead of a view whose object is missing or not loaded yet. */
export const NotYet = ({ title, problem, retry }) => (
  <>
    <Heading title={title} />
    {problem ? <ProblemNote problem={problem} retry={retry} /> : <p class="soft">Loading…</p>}
  </>
);

// -- fields ---------------------------------------------------------------------------------------------

/** A labelled control. `child`: the input; `wrong`: the server's error; `hint`: what to enter. */
export function Field({ label, hint, wrong, children, class: class_name = '' }) {
  const id = useId();
  const notes = [hint && `${id}-hint`, wrong && `${id}-wrong`].filter(Boolean).join(' ') || undefined;
  return (
    <div class={`field ${class_name}`}>
      <label for={id}>{label}</label>
      {cloneElement(children, { id, 'aria-describedby': notes, 'aria-invalid': wrong ? 'true' : undefined })}
      {hint && (
        <p id={`${id}-hint`} class="hint">
          {hint}
        </p>
      )}
      {wrong && (
        <p id={`${id}-wrong`} class="wrong">
          {wrong}
        </p>
      )}
    </div>
  );
}

export const Text = ({ value, set, ...rest }) => (
  <input type="text" value={value} onInput={(e) => set(e.currentTarget.value)} {...rest} />
);
export const Area = ({ value, set, ...rest }) => (
  <textarea value={value} onInput={(e) => set(e.currentTarget.value)} {...rest} />
);
export const Whole = ({ value, set, ...rest }) => (
  <input
    type="number"
    step="1"
    inputMode="numeric"
    value={value}
    onInput={(e) => set(e.currentTarget.value)}
    {...rest}
  />
);
export const Choice = ({ value, set, options, ...rest }) => (
  <select value={value} onChange={(e) => set(e.currentTarget.value)} {...rest}>
    {options.map(([key, text]) => (
      <option key={key} value={key} selected={key === value}>
        {text}
      </option>
    ))}
  </select>
);
export const When = ({ value, set, ...rest }) => (
  <input type="datetime-local" step="1" value={value} onInput={(e) => set(e.currentTarget.value)} {...rest} />
);
export function Check({ label, value, set, ...rest }) {
  return (
    <label class="check">
      <input type="checkbox" checked={value} onChange={(e) => set(e.currentTarget.checked)} {...rest} />
      <span>{label}</span>
    </label>
  );
}

/**
 * A form that also the keyboard sends, without leaving the page. After a refusal the first wrong field takes
 * the focus.
 */
export function Form({ send, children, ...rest }) {
  const form = useRef();
  const submit = async (event) => {
    event.preventDefault();
    await send();
    setTimeout(() => form.current?.querySelector('[aria-invalid]')?.focus(), 50);
  };
  return (
    <form ref={form} onSubmit={submit} {...rest}>
      {children}
    </form>
  );
}

// -- dialogs --------------------------------------------------------------------------------------------

/** A modal dialog. The browser keeps the focus inside and returns it. `close` null: it cannot be closed. */
export function Dialog({ title, close, children }) {
  const dialog = useRef();
  const id = useId();
  useEffect(() => {
    const before = document.activeElement;
    const element = dialog.current;
    element.showModal();
    return () => {
      element.close(); // a modal dialog keeps the focus
      if (before?.isConnected) before.focus();
    };
  }, []);
  return (
    <dialog
      ref={dialog}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault();
        close?.();
      }}
      onClose={() => (close ? close() : dialog.current?.showModal())} // browsers obey a second Escape
    >
      <h2 id={id}>{title}</h2>
      {children}
    </dialog>
  );
}

/** Asks for confirmation and a reason, which goes to the audit log. `work(reason)` is the action. */
export function Confirm({ title, what, verb, danger, work, close, done }) {
  const [reason, set_reason] = useState('');
  const action = use_action();
  const send = async () => {
    if (!(await action.run(() => work(reason.trim() || undefined)))) return;
    close();
    if (done) tell(done);
  };
  return (
    <Dialog title={title} close={close}>
      <p>{what}</p>
      <Form send={send}>
        <Field label="Reason (optional, may be public in the log)">
          <Text value={reason} set={set_reason} maxLength={500} />
        </Field>
        <ProblemNote problem={action.problem} />
        <div class="row end">
          <button type="button" class="button plain" onClick={close}>
            Not now
          </button>
          <button type="submit" class={`button ${danger ? 'danger' : ''}`} disabled={action.busy}>
            {verb}
          </button>
        </div>
      </Form>
    </Dialog>
  );
}

// -- lists ----------------------------------------------------------------------------------------------

/**
 * A table that scrolls inside its own box. `columns`: [title, cell(row), {wide, number}]; `wide` columns are
 * hidden on narrow screens.
 */
export function Table({ label, columns, rows, key_of }) {
  return (
    <div class="table" role="region" aria-label={label} tabIndex={0}>
      <table>
        <thead>
          <tr>
            {columns.map(([title, , how]) => (
              <th key={title} scope="col" class={class_of(how)}>
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={key_of(row)}>
              {columns.map(([title, cell, how]) => (
                <td key={title} class={class_of(how)}>
                  {cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
const class_of = (how) =>
  [how?.wide && 'wide', how?.number && 'number'].filter(Boolean).join(' ') || undefined;

/** A paged list, or a note that it is empty, or the problem. */
export function Listing({ pages, empty, children }) {
  return (
    <>
      <ProblemNote problem={pages.problem} retry={pages.refresh} />
      {pages.items === undefined && !pages.problem && <p class="soft">Loading…</p>}
      {pages.items?.length === 0 && !pages.more && <p class="soft">{empty}</p>}
      {pages.items?.length > 0 && children(pages.items)}
      {pages.more && (
        <p>
          <button type="button" class="button plain" disabled={pages.busy} onClick={pages.more}>
            {pages.items.length === 0 ? 'Nothing yet. Look further' : 'Show more'}
          </button>
        </p>
      )}
    </>
  );
}

/** Saves an export of the server as a file. */
export function ExportButton({ path, name, verb = 'Export as CSV' }) {
  const action = use_action();
  const [bytes, set_bytes] = useState(0);
  const save = () =>
    action.run(async () => {
      await download(path, name, set_bytes);
      tell(`${name} is saved.`);
    });
  return (
    <>
      <button type="button" class="button plain" disabled={action.busy} onClick={save}>
        {action.busy ? `Saving… ${Math.round(bytes / 1024)} KB` : verb}
      </button>
      <ProblemNote problem={action.problem} />
    </>
  );
}

/** A number with its name. */
export const Tile = ({ name, value, note }) => (
  <div class="tile">
    <dt>{name}</dt>
    <dd data-tile={name}>{value}</dd>
    {note && <dd class="small">{note}</dd>}
  </div>
);
