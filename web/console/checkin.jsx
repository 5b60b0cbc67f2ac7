// SPDX-License-Identifier: Apache-2.0
// Check-in of an event: numbers, lists, devices that scan (their QR code is shown once), conflicts, codes.
import { useState } from 'preact/hooks';
import { del, get, patch, post } from './api.mjs';
import { number, time, words } from './format.mjs';
import {
  Badge,
  Check,
  Choice,
  Confirm,
  Dialog,
  Field,
  Form,
  ProblemNote,
  Table,
  tell,
  Text,
  use_action,
  use_loaded,
  use_pages,
} from './parts.jsx';

const look_every_ms = 5_000;
const modes = [
  ['entry', 'Entry only'],
  ['entry_and_exit', 'Entry and exit'],
];

const gates_of = (text) =>
  text
    .split(',')
    .map((gate) => gate.trim())
    .filter(Boolean);

/** `list`: the one to change; null: a new one. */
function ListForm({ event, list, close, done }) {
  const [name, set_name] = useState(list?.name ?? '');
  const [gates, set_gates] = useState(list?.gates.join(', ') ?? '');
  const [mode, set_mode] = useState(list?.mode ?? 'entry');
  const [types, set_types] = useState(list?.ticket_type_ids ?? []);
  const action = use_action();
  const cover = (id) => (is_covered) =>
    set_types(is_covered ? [...types, id] : types.filter((other) => other !== id));
  const path = `/events/${event.id}/checkin/lists`;
  const send = async () => {
    const wish = { name: name.trim(), gates: gates_of(gates), mode, ticket_type_ids: types };
    if (!(await action.run(() => (list ? patch(`${path}/${list.id}`, wish) : post(path, wish))))) return;
    close();
    done();
    tell(list ? 'Saved.' : `${wish.name} can be scanned for.`);
  };
  const wrong = (field) => action.problem?.fields?.get(field);
  return (
    <Dialog title={list ? `Change ${list.name}` : 'New check-in list'} close={close}>
      <Form send={send}>
        <div class="fields">
          <Field label="Name" wrong={wrong('name')}>
            <Text value={name} set={set_name} required maxLength={100} autoComplete="off" />
          </Field>
          <Field label="Gates" hint="Names with commas between them; may be empty." wrong={wrong('gates')}>
            <Text value={gates} set={set_gates} autoComplete="off" />
          </Field>
          <Field label="Holders" hint="With exits, a holder who was scanned out may come in again.">
            <Choice value={mode} set={set_mode} options={modes} />
          </Field>
        </div>
        <fieldset class="plain">
          <legend>Ticket types that it lets in (none: all)</legend>
          {event.ticket_types.map((type) => (
            <Check key={type.id} label={type.name} value={types.includes(type.id)} set={cover(type.id)} />
          ))}
        </fieldset>
        <ProblemNote problem={action.problem} />
        <div class="row end">
          <button type="button" class="button plain" onClick={close}>
            Not now
          </button>
          <button type="submit" class="button" disabled={action.busy}>
            {list ? 'Save' : 'Make the list'}
          </button>
        </div>
      </Form>
    </Dialog>
  );
}

/** The address of a new device. It cannot be shown again. */
function DeviceCode({ device, close }) {
  const { quiet_zone, size, path } = device.qr;
  const side = size + 2 * quiet_zone;
  return (
    <Dialog title={`Open this on ${device.label}`} close={close}>
      <p>
        Scan it with the phone’s camera. It is shown once: anybody with this address can scan tickets as this
        device.
      </p>
      <svg
        class="qr"
        role="img"
        aria-label={`QR code with the address for ${device.label}`}
        viewBox={`${-quiet_zone} ${-quiet_zone} ${side} ${side}`}
        shape-rendering="crispEdges"
      >
        <rect x={-quiet_zone} y={-quiet_zone} width={side} height={side} fill="#fff" />
        <path d={path} fill="#000" />
      </svg>
      <p class="small">
        <code>{device.scan_url}</code>
      </p>
      <div class="row end">
        <button type="button" class="button" onClick={close}>
          Done
        </button>
      </div>
    </Dialog>
  );
}

function DeviceForm({ event, lists, close, done }) {
  const [label, set_label] = useState('');
  const [gate, set_gate] = useState('');
  const [chosen, set_chosen] = useState([]);
  const [may_force, set_may_force] = useState(false);
  const action = use_action();
  const gates = [...new Set(lists.flatMap((list) => list.gates))];
  const use = (id) => (is_used) =>
    set_chosen(is_used ? [...chosen, id] : chosen.filter((other) => other !== id));
  const send = async () => {
    let made;
    const wish = { label: label.trim(), list_ids: chosen, may_force, ...(gate && { gate }) };
    const work = async () => {
      made = await post(`/events/${event.id}/checkin/devices`, wish);
    };
    if (await action.run(work)) done(made);
  };
  return (
    <Dialog title="New device" close={close}>
      <Form send={send}>
        <div class="fields">
          <Field label="Name" hint="For example Phone 1." wrong={action.problem?.fields?.get('label')}>
            <Text value={label} set={set_label} required maxLength={100} autoComplete="off" />
          </Field>
          <Field label="Gate" hint="Second scans name it.">
            <Choice
              value={gate}
              set={set_gate}
              options={[['', 'None'], ...gates.map((name) => [name, name])]}
            />
          </Field>
        </div>
        <fieldset class="plain">
          <legend>Lists that it may use (none: all)</legend>
          {lists.map((list) => (
            <Check key={list.id} label={list.name} value={chosen.includes(list.id)} set={use(list.id)} />
          ))}
        </fieldset>
        <Check label="May let in against the rules" value={may_force} set={set_may_force} />
        <ProblemNote problem={action.problem} />
        <div class="row end">
          <button type="button" class="button plain" onClick={close}>
            Not now
          </button>
          <button type="submit" class="button" disabled={action.busy}>
            Make the device
          </button>
        </div>
      </Form>
    </Dialog>
  );
}

const scan_text = (scan) =>
  [time(scan.at), scan.type, scan.gate ?? scan.device, scan.reason && words(scan.reason)]
    .filter(Boolean)
    .join(' · ');

function Conflicts({ event, count }) {
  const path = `/events/${event.id}/checkin/conflicts`;
  const pages = use_pages((cursor) => get(cursor ? `${path}?cursor=${cursor}` : path), `${path} ${count}`);
  return (
    <section class="card" aria-labelledby="conflicts-title">
      <h2 id="conflicts-title">Let in twice or against the rules</h2>
      <p class="soft">Gates that were offline cannot know of each other. Both scans are kept.</p>
      <ProblemNote problem={pages.problem} retry={pages.refresh} />
      {pages.items?.length > 0 && (
        <Table
          label="Conflicts"
          rows={pages.items}
          key_of={(conflict) => conflict.event_ticket.id}
          columns={[
            ['Ticket', ({ event_ticket: t }) => [t.ticket_type, t.name].filter(Boolean).join(' · ')],
            ['Order', ({ event_ticket: t }) => t.order_id?.slice(-8) ?? '–', { wide: true }],
            [
              'Scans',
              ({ scans }) => (
                <ul>
                  {scans.map((scan) => (
                    <li key={scan.nonce}>{scan_text(scan)}</li>
                  ))}
                </ul>
              ),
            ],
          ]}
        />
      )}
      {pages.more && (
        <button type="button" class="button plain" disabled={pages.busy} onClick={pages.more}>
          More
        </button>
      )}
    </section>
  );
}

function Lists({ event, lists, refresh }) {
  const [editing, set_editing] = useState(undefined); // null: a new one
  const [removing, set_removing] = useState(null);
  const name_of = (id) => event.ticket_types.find((type) => type.id === id)?.name ?? id;
  return (
    <section class="card" aria-labelledby="lists-title">
      <div class="row apart">
        <h2 id="lists-title">Lists</h2>
        <button type="button" class="button" onClick={() => set_editing(null)}>
          New list
        </button>
      </div>
      {lists.length === 0 && <p class="soft">No list yet: gates let nothing in.</p>}
      {lists.length > 0 && (
        <Table
          label="Check-in lists"
          rows={lists}
          key_of={(list) => list.id}
          columns={[
            ['Name', (list) => <b>{list.name}</b>],
            [
              'Lets in',
              (list) => list.ticket_type_ids.map(name_of).join(', ') || 'all types',
              { wide: true },
            ],
            ['Gates', (list) => list.gates.join(', ') || '–', { wide: true }],
            ['Entries', (list) => number(list.entries), { number: true }],
            ['Exits', (list) => (list.mode === 'entry' ? '–' : number(list.exits)), { number: true }],
            ['Refused', (list) => number(list.refused), { number: true }],
            [
              'What to do',
              (list) => (
                <div class="row tight">
                  <button
                    type="button"
                    class="quiet-button"
                    aria-label={`Change ${list.name}`}
                    onClick={() => set_editing(list)}
                  >
                    Change
                  </button>
                  <button
                    type="button"
                    class="quiet-button"
                    aria-label={`Remove ${list.name}`}
                    onClick={() => set_removing(list)}
                  >
                    Remove
                  </button>
                </div>
              ),
            ],
          ]}
        />
      )}
      {editing !== undefined && (
        <ListForm event={event} list={editing} close={() => set_editing(undefined)} done={refresh} />
      )}
      {removing && (
        <Confirm
          title={`Remove ${removing.name}?`}
          what="Its gates let nothing in any more. The scans stay."
          verb="Remove the list"
          danger
          work={async (reason) => {
            await del(`/events/${event.id}/checkin/lists/${removing.id}`, reason ? { reason } : {});
            refresh();
          }}
          close={() => set_removing(null)}
          done={`${removing.name} is removed.`}
        />
      )}
    </section>
  );
}

function Devices({ event, lists, devices, refresh }) {
  const [adding, set_adding] = useState(false);
  const [made, set_made] = useState(null);
  const [revoking, set_revoking] = useState(null);
  const list_names = (device) =>
    device.list_ids.map((id) => lists.find((list) => list.id === id)?.name ?? '–').join(', ') || 'all';
  return (
    <section class="card" aria-labelledby="devices-title">
      <div class="row apart">
        <h2 id="devices-title">Devices</h2>
        <button type="button" class="button" onClick={() => set_adding(true)}>
          New device
        </button>
      </div>
      {devices.length === 0 && <p class="soft">No device yet. A phone with a browser is enough.</p>}
      {devices.length > 0 && (
        <Table
          label="Devices"
          rows={devices}
          key_of={(device) => device.id}
          columns={[
            ['Name', (device) => <b>{device.label}</b>],
            ['Gate', (device) => device.gate ?? '–'],
            ['Lists', list_names, { wide: true }],
            ['Against the rules', (device) => (device.may_force ? 'yes' : 'no'), { wide: true }],
            ['Made', (device) => time(device.created_at), { wide: true }],
            ['State', (device) => <Badge name={device.revoked_at ? 'REVOKED' : 'ACTIVE'} />],
            [
              'What to do',
              (device) =>
                !device.revoked_at && (
                  <button
                    type="button"
                    class="quiet-button"
                    aria-label={`Revoke ${device.label}`}
                    onClick={() => set_revoking(device)}
                  >
                    Revoke
                  </button>
                ),
            ],
          ]}
        />
      )}
      {adding && (
        <DeviceForm
          event={event}
          lists={lists}
          close={() => set_adding(false)}
          done={(device) => {
            set_adding(false);
            set_made(device);
            refresh();
          }}
        />
      )}
      {made && <DeviceCode device={made} close={() => set_made(null)} />}
      {revoking && (
        <Confirm
          title={`Revoke ${revoking.label}?`}
          what="It is refused at once. Scans that it has not sent yet need a new address on the same phone."
          verb="Revoke the device"
          danger
          work={async (reason) => {
            await del(`/events/${event.id}/checkin/devices/${revoking.id}`, reason ? { reason } : {});
            refresh();
          }}
          close={() => set_revoking(null)}
          done={`${revoking.label} may not scan any more.`}
        />
      )}
    </section>
  );
}

function Codes({ event }) {
  const [voiding, set_voiding] = useState(false);
  return (
    <section class="card" aria-labelledby="codes-title">
      <h2 id="codes-title">Codes</h2>
      <p class="soft">
        If a phone that scans was stolen, first revoke it above. Then void the codes that it has read.
      </p>
      <button type="button" class="button plain danger-text" onClick={() => set_voiding(true)}>
        Void all codes
      </button>
      {voiding && (
        <Confirm
          title="Void the codes of all tickets?"
          what="The ticket pages load new codes when they are online. PDFs must be sent again, and devices that are offline must connect once."
          verb="Void all codes"
          danger
          work={(reason) => post(`/events/${event.id}/event-tickets/rotate-keys`, reason ? { reason } : {})}
          close={() => set_voiding(false)}
          done="All tickets have new codes."
        />
      )}
    </section>
  );
}

export function Checkin({ event }) {
  const path = `/events/${event.id}/checkin`;
  const { data, problem, refresh } = use_loaded((signal) => get(path, { signal }), path, look_every_ms);
  if (!data)
    return problem ? <ProblemNote problem={problem} retry={refresh} /> : <p class="soft">Loading…</p>;
  return (
    <>
      <ProblemNote problem={problem} retry={refresh} />
      <section class="card" aria-labelledby="numbers-title">
        <h2 id="numbers-title">At the gates</h2>
        <Table
          label="Tickets by type"
          rows={data.ticket_types}
          key_of={(type) => type.ticket_type_id}
          columns={[
            ['Ticket type', (type) => <b>{type.name}</b>],
            ['Valid', (type) => number(type.valid), { number: true }],
            ['In', (type) => number(type.in), { number: true }],
            ['Out for now', (type) => number(type.out), { number: true }],
          ]}
        />
      </section>
      {data.conflicts > 0 && <Conflicts event={event} count={data.conflicts} />}
      <Lists event={event} lists={data.lists} refresh={refresh} />
      <Devices event={event} lists={data.lists} devices={data.devices} refresh={refresh} />
      <Codes event={event} />
    </>
  );
}
