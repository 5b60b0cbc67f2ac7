// SPDX-License-Identifier: Apache-2.0
// The picture of an event: shown, sent, removed. It is stored at once, apart from the form of the settings.
import { del, picture_url, put } from './api.mjs';
import { Field, ProblemNote, tell, use_action } from './parts.jsx';

const bytes_max = 2 * 1024 * 1024;
/** The server reads it, and others wait for that too. */
const upload_timeout_ms = 120_000;

export function Picture({ event, changed }) {
  const action = use_action();
  const path = `/events/${event.id}/picture`;
  const send = (file) =>
    action.run(async () => {
      if (file.size > bytes_max) throw new Error('The file has more than 2 MB.');
      changed(await put(path, file, { timeout_ms: upload_timeout_ms }));
      tell('The picture is stored.');
    });
  const remove = () =>
    action.run(async () => {
      changed(await del(path));
      tell('The picture is removed.');
    });
  return (
    <section class="card" aria-labelledby="picture-title">
      <h2 id="picture-title">Picture</h2>
      {event.picture && <img class="picture" alt="" src={picture_url(event.picture, 'medium')} />}
      <Field
        label={event.picture ? 'Another picture' : 'Picture'}
        hint="PNG, JPEG or WebP of at most 2 MB, about twice as wide as high. Pages, links and tickets show it."
      >
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
      {event.picture && (
        <button type="button" class="button plain" disabled={action.busy} onClick={remove}>
          Remove the picture
        </button>
      )}
      <ProblemNote problem={action.problem} />
    </section>
  );
}
