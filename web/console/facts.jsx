// SPDX-License-Identifier: Apache-2.0
// What people want to know of an event: when, where, what. Part of the event's form.
import { Area, Field, Text, When } from './parts.jsx';
import { from_zoned_input, typed, untyped, zone, zoned_input } from './format.mjs';

const or_null = (text) => (text.trim() === '' ? null : text.trim());
const zones = Intl.supportedValuesOf?.('timeZone') ?? [];

export const new_facts = () => ({
  starts_at: '',
  ends_at: '',
  doors_at: '',
  time_zone: zone,
  description: '',
  venue_name: '',
  venue_address: '',
  latitude: '',
  longitude: '',
});

export const facts_of = (event) => ({
  starts_at: zoned_input(event.starts_at, event.time_zone),
  ends_at: zoned_input(event.ends_at, event.time_zone),
  doors_at: zoned_input(event.doors_at, event.time_zone),
  time_zone: event.time_zone ?? '',
  description: event.description ?? '',
  venue_name: event.venue.name ?? '',
  venue_address: event.venue.address ?? '',
  latitude: typed(event.venue.latitude),
  longitude: typed(event.venue.longitude),
});

/** Request field and value of each typed field. */
export const facts_wire = {
  starts_at: (f) => ({ starts_at: from_zoned_input(f.starts_at, f.time_zone) }),
  ends_at: (f) => ({ ends_at: from_zoned_input(f.ends_at, f.time_zone) }),
  doors_at: (f) => ({ doors_at: from_zoned_input(f.doors_at, f.time_zone) }),
  time_zone: (f) => ({ time_zone: or_null(f.time_zone) }),
  description: (f) => ({ description: f.description === '' ? null : f.description }),
};
export const venue_wire = {
  venue_name: (f) => ({ name: or_null(f.venue_name) }),
  venue_address: (f) => ({ address: or_null(f.venue_address) }),
  latitude: (f) => ({ latitude: untyped(f.latitude) }),
  longitude: (f) => ({ longitude: untyped(f.longitude) }),
};

const Degrees = ({ value, set, most, ...rest }) => (
  <input
    type="number"
    step="0.000001"
    min={-most}
    max={most}
    value={value}
    onInput={(e) => set(e.currentTarget.value)}
    {...rest}
  />
);

export function Facts({ form, put, wrong }) {
  return (
    <section class="card" aria-labelledby="facts-title">
      <h2 id="facts-title">When and where</h2>
      <div class="fields">
        <Field
          label="Event begins"
          wrong={wrong('starts_at')}
          hint={`In the event’s time zone, ${form.time_zone || 'UTC'}.`}
        >
          <When value={form.starts_at} set={put('starts_at')} />
        </Field>
        <Field label="Event ends" wrong={wrong('ends_at')}>
          <When value={form.ends_at} set={put('ends_at')} />
        </Field>
        <Field label="Doors open" wrong={wrong('doors_at')}>
          <When value={form.doors_at} set={put('doors_at')} />
        </Field>
        <Field
          label="Time zone of the venue"
          wrong={wrong('time_zone')}
          hint="All times here, on pages and in mails are in it. Empty: UTC."
        >
          <Text value={form.time_zone} set={put('time_zone')} maxLength={64} list="time-zones" />
        </Field>
        <datalist id="time-zones">
          {zones.map((name) => (
            <option key={name} value={name} />
          ))}
        </datalist>
        <Field label="Venue" wrong={wrong('venue.name')}>
          <Text value={form.venue_name} set={put('venue_name')} maxLength={200} />
        </Field>
        <Field label="Address" wrong={wrong('venue.address')}>
          <Text value={form.venue_address} set={put('venue_address')} maxLength={500} />
        </Field>
        <Field label="Latitude" wrong={wrong('venue.latitude')} hint="For the map; with the longitude.">
          <Degrees value={form.latitude} set={put('latitude')} most={90} />
        </Field>
        <Field label="Longitude" wrong={wrong('venue.longitude')}>
          <Degrees value={form.longitude} set={put('longitude')} most={180} />
        </Field>
        <Field
          label="Description"
          wrong={wrong('description')}
          hint="Markdown: *emphasis*, lists and links. HTML and pictures are left out."
          class="wide"
        >
          <Area value={form.description} set={put('description')} rows={8} maxLength={10000} />
        </Field>
      </div>
    </section>
  );
}
