// SPDX-License-Identifier: Apache-2.0
// The organizer's console: the session, the view that the address names, and the frame around it. All data
// comes from the public API (api.mjs) and stays in this page's memory.
import { render } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { current_session, on_session, sign_in, sign_out } from './api.mjs';
import { Audit, DeadLetters } from './audit.jsx';
import { EventPage } from './event.jsx';
import { NewEvent } from './event_form.jsx';
import { Events, Queues } from './events.jsx';
import { know_decimals, time } from './format.mjs';
import { forget_histories } from './history.mjs';
import { Announcer, Dialog, Field, Form, Heading, ProblemNote, Text, use_action } from './parts.jsx';
import { BlockedCustomers } from './guests.jsx';
import { know_witnesses } from './log.jsx';
import { Logo } from './picture.jsx';
import { NewQueue, QueuePage } from './queue.jsx';
import { SignIns } from './sign_ins.jsx';
import { Tasks } from './tasks.jsx';

/**
 * `whose`: owner of the open views. An expired session keeps them behind a dialog, a sign-out closes them.
 */
function use_session() {
  const [state, set] = useState({ session: current_session(), whose: current_session() });
  useEffect(
    () =>
      on_session((session, left) =>
        set((before) => {
          if (left || (session && before.whose && session.email !== before.whose.email)) forget_histories();
          return { session, whose: left ? null : (session ?? before.whose) };
        }),
      ),
    [],
  );
  return state;
}

const path_of = () => location.hash.replace(/^#\/?/, '').split('/').filter(Boolean);
function use_path() {
  const [path, set] = useState(path_of());
  useEffect(() => {
    const moved = () => {
      set(path_of());
      document.activeElement?.blur(); // the new view's heading takes the focus
      scrollTo(0, 0);
    };
    addEventListener('hashchange', moved);
    return () => removeEventListener('hashchange', moved);
  }, []);
  return path;
}

function SignInForm({ email: known = '' }) {
  const [email, set_email] = useState(known);
  const [password, set_password] = useState('');
  const action = use_action();
  const send = async () => {
    await action.run(() => sign_in(email.trim(), password));
    set_password('');
  };
  return (
    <Form send={send}>
      <Field label="E-mail address">
        <Text value={email} set={set_email} type="email" autoComplete="username" required maxLength={254} />
      </Field>
      <Field label="Password">
        <Text
          value={password}
          set={set_password}
          type="password"
          autoComplete="current-password"
          required
          maxLength={1024}
        />
      </Field>
      <ProblemNote problem={action.problem} />
      <div class="row">
        <button type="submit" class="button" disabled={action.busy}>
          {action.busy ? 'Signing in…' : 'Sign in'}
        </button>
      </div>
    </Form>
  );
}

/**
 * Link to the page with the demo organizer's address and password, if the server is a demo on this machine.
 */
const demo = document.getElementById('console').dataset.demo;

function SignIn() {
  return (
    <main id="main" class="narrow" tabIndex={-1}>
      <p class="brand">
        FairQueue <span>console</span>
      </p>
      <Heading title="Sign in" />
      <section class="card" aria-label="Sign in">
        <SignInForm />
        {demo && (
          <p>
            This is a demo:{' '}
            <a href={demo} target="_blank" rel="noopener">
              its organizer’s address and password
            </a>{' '}
            (opens in a new tab).
          </p>
        )}
        <p class="soft small">
          The sign-in is kept in this page’s memory only: after a reload you sign in again, and nothing is
          left behind on this computer.
        </p>
      </section>
    </main>
  );
}

function View({ path: [what = 'events', id, view, rest] }) {
  if (what === 'events' && !id) return <Events />;
  if (what === 'events' && id === 'new') return <NewEvent />;
  if (what === 'events') return <EventPage key={id} id={id} view={view} rest={rest} />;
  if (what === 'queues' && !id) return <Queues />;
  if (what === 'queues' && id === 'new') return <NewQueue />;
  if (what === 'queues') return <QueuePage key={id} id={id} view={view} />;
  if (what === 'dead-letters') return <DeadLetters />;
  if (what === 'blocked') return <BlockedCustomers />;
  if (what === 'tasks') return <Tasks />;
  if (what === 'audit') return <Audit />;
  if (what === 'sign-ins') return <SignIns />;
  if (what === 'logo') return <Logo />;
  return (
    <>
      <Heading title="There is nothing here" />
      <p>
        <a href="#/events">To the events</a>
      </p>
    </>
  );
}

const places = [
  ['events', 'Events'],
  ['queues', 'Queues'],
  ['blocked', 'Blocked'],
  ['dead-letters', 'Dead letters'],
  ['tasks', 'Tasks'],
  ['audit', 'Audit log'],
  ['logo', 'Logo'],
  ['sign-ins', 'Sign-ins'],
];

function Frame({ session, path }) {
  const main = useRef();
  const leave = () => {
    location.hash = '#/events'; // the next user starts at the first view
    sign_out();
  };
  const skip = (event) => {
    event.preventDefault(); // the address belongs to the view
    main.current.focus();
  };
  return (
    <>
      <a class="skip" href="#main" onClick={skip}>
        Skip to the content
      </a>
      <header>
        <a class="brand" href="#/events">
          FairQueue <span>console</span>
        </a>
        <nav aria-label="Console">
          {places.map(([name, text]) => (
            <a
              key={name}
              href={`#/${name}`}
              aria-current={(path[0] ?? 'events') === name ? 'page' : undefined}
            >
              {text}
            </a>
          ))}
        </nav>
        <div class="who">
          <span title={`Signed in until ${time(session.expires_at)}`}>{session.email}</span>
          <button type="button" class="quiet-button" onClick={leave}>
            Sign out
          </button>
        </div>
      </header>
      <main id="main" ref={main} tabIndex={-1}>
        <View path={path} />
      </main>
    </>
  );
}

function App() {
  const { session, whose } = use_session();
  const path = use_path();
  return (
    <>
      {whose ? <Frame key={whose.email} session={whose} path={path} /> : <SignIn />}
      {!session && whose && (
        <Dialog title="Your sign-in has ended" close={null}>
          <p>Sign in again to continue here.</p>
          <SignInForm email={whose.email} />
        </Dialog>
      )}
      <Announcer />
    </>
  );
}

const root = document.getElementById('console');
know_decimals(JSON.parse(root.dataset.decimals));
know_witnesses(JSON.parse(root.dataset.witnesses));
render(<App />, root);
