// SPDX-License-Identifier: Apache-2.0
// Reserved seats of an event: a plan from a file, a simple hall or a saved plan, while it is a
// draft; then the seats by state, which the organizer blocks, releases and moves.
import { useMemo, useState } from 'preact/hooks';
import { current_session, del, get, patch, post, put, Problem } from './api.mjs';
import { number, seat_text, time } from './format.mjs';
import {
  Check,
  Choice,
  Confirm,
  ExportButton,
  Field,
  Form,
  Listing,
  ProblemNote,
  Table,
  tell,
  Text,
  Tile,
  use_action,
  use_loaded,
  use_pages,
  Whole,
} from './parts.jsx';
import { seat_states, seats_of, SeatStates } from '../sdk/seats.mjs';

const look_every_ms = 5_000;
const shown_max = 200;
/** Seats of one change, as in the API. */
const changed_max = 1_000;

const singles = [
  ['strict', 'Never leave a single seat'],
  ['when_needed', 'Only if it cannot be avoided'],
  ['off', 'Single seats may stay'],
];

// -- a plan for a draft

const new_section = (event) => ({
  section: '',
  name: '',
  ticket_type: event.ticket_types[0]?.name ?? '',
  rows: '10',
  seats: '20',
  accessible: '0',
});

function SectionFields({ section, set, types, remove }) {
  const change = (name) => (value) => set({ ...section, [name]: value });
  return (
    <fieldset class="plain">
      <legend>Section</legend>
      <div class="fields">
        <Field label="Code" hint="Begins the seats’ names: “P” makes P-A-3. May be empty.">
          <Text value={section.section} set={change('section')} maxLength={8} pattern="[0-9A-Za-z._]*" />
        </Field>
        <Field label="Name for people">
          <Text value={section.name} set={change('name')} maxLength={100} placeholder="Block A" />
        </Field>
        <Field label="Ticket type">
          <Choice
            value={section.ticket_type}
            set={change('ticket_type')}
            options={types.map(({ name }) => [name, name])}
          />
        </Field>
        <Field label="Rows">
          <Whole value={section.rows} set={change('rows')} min="1" max="500" required />
        </Field>
        <Field label="Seats of a row">
          <Whole value={section.seats} set={change('seats')} min="1" max="500" required />
        </Field>
        <Field label="Wheelchair places" hint="In the last row, each with a companion’s seat.">
          <Whole value={section.accessible} set={change('accessible')} min="0" max="100" required />
        </Field>
      </div>
      {remove && (
        <button type="button" class="button plain" onClick={remove}>
          Remove this section
        </button>
      )}
    </fieldset>
  );
}

/** The plans of this organizer and of its tenant. */
function KeptPlans({ event, done, rules }) {
  const pages = use_pages(async (cursor) => {
    const page = await get(`/seat-plans${cursor ? `?cursor=${cursor}` : ''}`);
    return { items: page.seat_plans, next_cursor: page.next_cursor };
  }, 'seat plans');
  const action = use_action();
  const [removed, set_removed] = useState(null);
  const copy = async ({ seat_plan_id }) => {
    const store = () => put(`/events/${event.id}/seat-plan/copy?${rules}`, { seat_plan_id });
    if (!(await action.run(store))) return;
    done();
    tell('The event has seats.');
  };
  const is_own = (plan) => plan.organizer_id === current_session()?.organizer_id;
  return (
    <>
      <h3>A saved plan</h3>
      <ProblemNote problem={action.problem} />
      <Listing pages={pages} empty="No plans are saved yet. Save one from an event that has seats.">
        {(rows) => (
          <Table
            label="Saved plans"
            rows={rows}
            key_of={(plan) => plan.seat_plan_id}
            columns={[
              ['Plan', (plan) => plan.name],
              ['Of', (plan) => (is_own(plan) ? 'you' : 'your tenant'), { wide: true }],
              ['Saved on', (plan) => time(plan.created_at), { wide: true }],
              [
                'Do',
                (plan) => (
                  <div class="row">
                    <button
                      type="button"
                      class="button"
                      disabled={action.busy}
                      aria-label={`Copy ${plan.name}`}
                      onClick={() => copy(plan)}
                    >
                      Copy
                    </button>
                    {is_own(plan) && (
                      <button
                        type="button"
                        class="button plain"
                        aria-label={`Remove ${plan.name}`}
                        onClick={() => set_removed(plan)}
                      >
                        Remove…
                      </button>
                    )}
                  </div>
                ),
              ],
            ]}
          />
        )}
      </Listing>
      {removed && (
        <Confirm
          title={`Remove ${removed.name}?`}
          what="Events that have copied it keep their seats."
          verb="Remove"
          danger
          work={async (reason) => {
            await del(`/seat-plans/${removed.seat_plan_id}`, reason ? { reason } : undefined);
            pages.refresh();
          }}
          close={() => set_removed(null)}
          done="Removed."
        />
      )}
    </>
  );
}

/** Saves the event's plan for other events. */
function KeepButton({ event, plan }) {
  const action = use_action();
  const keep = async () => {
    const kept = { ...plan, name: plan.name || event.name.slice(0, 100) };
    if (await action.run(() => post('/seat-plans', kept))) tell('The plan is saved.');
  };
  return (
    <>
      <ProblemNote problem={action.problem} />
      <button type="button" class="button plain" disabled={action.busy} onClick={keep}>
        Save this plan for other events
      </button>
    </>
  );
}

function HallForm({ event, done, rules }) {
  const [sections, set_sections] = useState([new_section(event)]);
  const [aisles, set_aisles] = useState('1');
  const [is_curved, set_curved] = useState(false);
  const [is_lettered, set_lettered] = useState(true);
  const action = use_action();
  const set_section = (index) => (section) =>
    set_sections(sections.map((old, i) => (i === index ? section : old)));
  const send = async () => {
    const hall = {
      name: event.name.slice(0, 100),
      aisles: Number(aisles),
      lettered_rows: is_lettered,
      ...(is_curved && { radius: 1_500, stage_distance: 1_500 }),
      sections: sections.map((s) => ({
        ...s,
        rows: Number(s.rows),
        seats: Number(s.seats),
        accessible: Number(s.accessible),
      })),
    };
    if (!(await action.run(() => put(`/events/${event.id}/seat-plan/hall?${rules}`, hall)))) return;
    done();
    tell('The event has seats.');
  };
  return (
    <Form send={send}>
      <h3>A simple hall</h3>
      {sections.map((section, i) => (
        <SectionFields
          key={i}
          section={section}
          set={set_section(i)}
          types={event.ticket_types}
          remove={sections.length > 1 && (() => set_sections(sections.filter((_, at) => at !== i)))}
        />
      ))}
      <div class="fields">
        <Field label="Aisles through each row">
          <Whole value={aisles} set={set_aisles} min="0" max="20" required />
        </Field>
      </div>
      <Check label="Rows have letters, not numbers" value={is_lettered} set={set_lettered} />
      <Check label="Rows are curved" value={is_curved} set={set_curved} />
      <ProblemNote problem={action.problem} />
      <div class="row">
        <button
          type="button"
          class="button plain"
          onClick={() => set_sections([...sections, new_section(event)])}
        >
          One more section
        </button>
        <button type="submit" class="button" disabled={action.busy}>
          Make the seats
        </button>
      </div>
    </Form>
  );
}

function FileForm({ event, done, rules }) {
  const [file, set_file] = useState(null);
  const action = use_action();
  const send = async () => {
    const type = file.name.endsWith('.csv') ? 'text/csv' : 'application/json';
    const store = () => put(`/events/${event.id}/seat-plan?${rules}`, new Blob([file], { type }));
    if (!(await action.run(store))) return;
    done();
    tell('The event has seats.');
  };
  const errors = [...(action.problem?.fields ?? [])];
  return (
    <Form send={send}>
      <h3>A file</h3>
      <Field
        label="JSON or CSV"
        hint="At most 3 MiB. A CSV needs section, row, seat, x, y (centimetres) and ticket_type."
      >
        <input
          type="file"
          accept=".json,.csv"
          required
          onChange={(e) => set_file(e.currentTarget.files[0] ?? null)}
        />
      </Field>
      <ProblemNote problem={action.problem} />
      {errors.length > 0 && (
        <ul aria-label="Errors of the file">
          {errors.map(([place, what]) => (
            <li key={place}>
              {place}: {what}
            </li>
          ))}
        </ul>
      )}
      <button type="submit" class="button" disabled={action.busy || !file}>
        Read the file
      </button>
    </Form>
  );
}

function RuleFields({ rules, set }) {
  return (
    <>
      <div class="fields">
        <Field label="Single seats">
          <Choice
            value={rules.singles}
            set={(value) => set({ ...rules, singles: value })}
            options={singles}
          />
        </Field>
      </div>
      <Check
        label="A group may be divided over two rows"
        value={rules.split}
        set={(value) => set({ ...rules, split: value })}
      />
      <Check
        label="Wheelchair places and their companions’ seats are sold to all"
        value={rules.accessible_for_all}
        set={(value) => set({ ...rules, accessible_for_all: value })}
      />
    </>
  );
}

function NewPlan({ event, done }) {
  const [chosen, set_chosen] = useState({ singles: 'strict', split: false, accessible_for_all: false });
  const rules = new URLSearchParams(chosen);
  return (
    <>
      <p>Each ticket type of the plan must be one of the event’s. Their totals become the number of seats.</p>
      <RuleFields rules={chosen} set={set_chosen} />
      <KeptPlans event={event} done={done} rules={rules} />
      <HallForm event={event} done={done} rules={rules} />
      <FileForm event={event} done={done} rules={rules} />
    </>
  );
}

// -- the seats of an event

const state_names = [['', 'Every state'], ...seat_states.map((state) => [state, state])];

function SeatList({ event, plan, map, changed }) {
  const [state, set_state] = useState('held');
  const [text, set_text] = useState('');
  const [type, set_type] = useState('');
  const action = use_action();
  const seats = useMemo(() => seats_of(plan), [plan]);
  const known = new SeatStates(seats);
  known.take(map);
  const name_of = (id) => event.ticket_types.find((t) => t.id === id)?.name ?? id;
  const all = seats.map((seat) => ({
    name: seat.name,
    place: seat_text({
      section: plan.sections[seat.section].name || plan.sections[seat.section].section,
      row: plan.sections[seat.section].rows[seat.row].row,
      seat: seat.seat,
    }),
    state: seat_states[known.states[seat.number]],
    type: name_of(known.type_ids[known.types[seat.number]]),
  }));
  const wanted = text.trim().toLowerCase();
  const found = all.filter(
    (seat) =>
      (!state || seat.state === state) &&
      (!wanted || seat.name.toLowerCase().startsWith(wanted) || seat.place.toLowerCase().includes(wanted)),
  );
  const change = (wish, said) =>
    action
      .run(() => patch(`/events/${event.id}/seats`, { seats: found.map(({ name }) => name), ...wish }))
      .then((done) => {
        if (!done) return;
        tell(said);
        changed();
      });
  const may_change = found.length > 0 && found.length <= changed_max;
  const are = (...states) => found.every((seat) => states.includes(seat.state));
  return (
    <>
      <dl class="tiles">
        {seat_states.map((name) => (
          <Tile key={name} name={name} value={number(all.filter((seat) => seat.state === name).length)} />
        ))}
      </dl>
      {plan.areas.length > 0 && (
        <Table
          label="Standing areas"
          rows={plan.areas.map((area, i) => ({ ...area, free: map.areas_free?.[i] }))}
          key_of={(area) => area.area}
          columns={[
            ['Standing area', (area) => area.name || area.area],
            ['Places', (area) => number(area.places), { number: true }],
            ['Free', (area) => number(area.free), { number: true }],
            ['Ticket type', (area) => area.ticket_type, { wide: true }],
          ]}
        />
      )}
      <div class="row bottom">
        <Field label="State">
          <Choice value={state} set={set_state} options={state_names} />
        </Field>
        <Field label="Find" hint="Begin of a name such as P-A, or part of section, row and seat.">
          <Text value={text} set={set_text} type="search" maxLength={100} />
        </Field>
      </div>
      <div role="status">
        <p class="soft">
          {number(found.length)} seats{found.length > shown_max && `, the first ${shown_max} are shown`}
        </p>
      </div>
      <Table
        label="Seats"
        rows={found.slice(0, shown_max)}
        key_of={(seat) => seat.name}
        columns={[
          ['Seat', (seat) => seat.place],
          ['Name', (seat) => seat.name, { wide: true }],
          ['State', (seat) => seat.state],
          ['Ticket type', (seat) => seat.type, { wide: true }],
        ]}
      />
      <ProblemNote problem={action.problem} />
      <div class="row bottom">
        <button
          type="button"
          class="button plain"
          disabled={action.busy || !may_change || !are('free')}
          onClick={() => change({ blocked: true }, 'Blocked.')}
        >
          Block these seats
        </button>
        <button
          type="button"
          class="button plain"
          disabled={action.busy || !may_change || !are('blocked')}
          onClick={() => change({ blocked: false }, 'On sale again.')}
        >
          Release these seats
        </button>
        <Field label="Move them to">
          <Choice
            value={type}
            set={set_type}
            options={[['', '–'], ...event.ticket_types.map((t) => [t.id, t.name])]}
          />
        </Field>
        <button
          type="button"
          class="button plain"
          disabled={action.busy || !may_change || !type || !are('free', 'blocked')}
          onClick={() => change({ ticket_type_id: type }, 'Moved.')}
        >
          Move
        </button>
      </div>
    </>
  );
}

/** The rules of choices, as the map has them for the event's managers. */
function RulesForm({ event, map, changed }) {
  const [chosen, set_chosen] = useState({
    singles: map.singles,
    split: map.split,
    accessible_for_all: map.accessible_for_all,
  });
  const action = use_action();
  const send = async () => {
    if (!(await action.run(() => patch(`/events/${event.id}/seats`, chosen)))) return;
    changed();
    tell('The rules are changed.');
  };
  return (
    <Form send={send}>
      <h3>Rules for the choice of seats</h3>
      <RuleFields rules={chosen} set={set_chosen} />
      <ProblemNote problem={action.problem} />
      <button type="submit" class="button plain" disabled={action.busy}>
        Change the rules
      </button>
    </Form>
  );
}

/** Null: the event has none. */
const or_null = (loading) =>
  loading.catch((problem) => {
    if (problem instanceof Problem && problem.status === 404) return null;
    throw problem;
  });

export function Seats({ event }) {
  const root = `/events/${event.id}`;
  const plan = use_loaded((signal) => or_null(get(`${root}/seat-plan`, { signal })), `${event.id} plan`);
  const map = use_loaded(
    (signal) => or_null(get(`${root}/seats`, { signal })),
    `${event.id} map`,
    look_every_ms,
  );
  const [is_removing, set_removing] = useState(false);
  const refresh = () => {
    plan.refresh();
    map.refresh();
  };
  const is_draft = event.status === 'DRAFT';
  const has_ended = event.status === 'ENDED' || event.status === 'CANCELLED';
  const has_all = plan.data && map.data && map.data.seats !== undefined;
  return (
    <section class="card" aria-labelledby="seats-title">
      <div class="row apart">
        <h2 id="seats-title">Seats</h2>
        {plan.data && <ExportButton path={`${root}/seat-plan?form=csv`} name={`seats-${event.id}.csv`} />}
      </div>
      <ProblemNote problem={plan.problem ?? map.problem} />
      {plan.data === null && is_draft && <NewPlan event={event} done={refresh} />}
      {plan.data === null && !is_draft && <p>This event has no seats: only a draft can get a plan.</p>}
      {has_all && <SeatList event={event} plan={plan.data} map={map.data} changed={map.refresh} />}
      {has_all && !has_ended && <RulesForm event={event} map={map.data} changed={map.refresh} />}
      {has_all && <KeepButton event={event} plan={plan.data} />}
      {has_all && is_draft && (
        <button type="button" class="button danger" onClick={() => set_removing(true)}>
          Take the plan away…
        </button>
      )}
      {is_removing && (
        <Confirm
          title="Take the seat plan away?"
          what="The event then sells tickets without seats, until it gets another plan."
          verb="Take it away"
          danger
          work={async (reason) => {
            await del(`${root}/seat-plan`, reason ? { reason } : undefined);
            refresh();
          }}
          close={() => set_removing(false)}
          done="The event has no seats."
        />
      )}
    </section>
  );
}
