// SPDX-License-Identifier: Apache-2.0
// The picture of an event and the logo of a tenant: shown, sent, removed. They are stored at once, apart from
// the form of the settings.
import { useState } from 'preact/hooks';
import { del, get, picture_url, put } from './api.mjs';
import { Field, Heading, ProblemNote, tell, use_action, use_loaded } from './parts.jsx';

const bytes_max = 2 * 1024 * 1024;
/** The server reads it, and others wait for that too. */
const upload_timeout_ms = 120_000;

/** A picture, and a field that sends another one. `send(file)` and `remove()` are actions. */
function PictureCard({ id, title, picture, size, hint, action, send, remove }) {
  return (
    <section class="card" aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      {picture && <img class="picture" alt="" src={picture_url(picture, size)} />}
      <Field label={picture ? `Another ${title.toLowerCase()}` : title} hint={hint}>
        <input
          type="file"
          accept="image/png,image/jpeg,image/webp"
          disabled={action.busy}
          onChange={(e) => {
            const file = e.currentTarget.files[0];
            e.currentTarget.value = '';
            if (file) send(file);
          }}
        />
      </Field>
      {picture && (
        <button type="button" class="button plain" disabled={action.busy} onClick={remove}>
          Remove the {title.toLowerCase()}
        </button>
      )}
      <ProblemNote problem={action.problem} />
    </section>
  );
}

/** `changed` takes the server's answer. */
function use_picture(path, what, changed) {
  const action = use_action();
  const send = (file) =>
    action.run(async () => {
      if (file.size > bytes_max) throw new Error('The file has more than 2 MB.');
      changed(await put(path, file, { timeout_ms: upload_timeout_ms }));
      tell(`The ${what} is stored.`);
    });
  const remove = () =>
    action.run(async () => {
      changed(await del(path));
      tell(`The ${what} is removed.`);
    });
  return { action, send, remove };
}

export function Picture({ event, changed }) {
  const parts = use_picture(`/events/${event.id}/picture`, 'picture', changed);
  return (
    <PictureCard
      id="picture-title"
      title="Picture"
      picture={event.picture}
      size="medium"
      hint="PNG, JPEG or WebP of at most 2 MB, about twice as wide as high. Pages, links and tickets show it."
      {...parts}
    />
  );
}

/** The logo of the organizer's tenant. */
export function Logo() {
  const known = use_loaded((signal) => get('/tenant/logo', { signal }), 'logo');
  const [set, set_logo] = useState(null);
  const parts = use_picture('/tenant/logo', 'logo', set_logo);
  return (
    <>
      <Heading title="Logo" />
      <ProblemNote problem={known.problem} retry={known.refresh} />
      {known.data && (
        <PictureCard
          id="logo-title"
          title="Logo"
          picture={(set ?? known.data).logo}
          size="small"
          hint="PNG, JPEG or WebP of at most 2 MB. Pages, mails and tickets of your tenant show it."
          {...parts}
        />
      )}
    </>
  );
}
