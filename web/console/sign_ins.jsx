// SPDX-License-Identifier: Apache-2.0
// The organizer's own sign-ins, and ending one.
import { del, get } from './api.mjs';
import { time } from './format.mjs';
import { Heading, Listing, ProblemNote, Table, tell, use_action, use_pages } from './parts.jsx';

export function SignIns() {
  const pages = use_pages(() => get('/auth/organizer/sessions'), '');
  const action = use_action();
  const end = async (one) => {
    if (!(await action.run(() => del(`/auth/organizer/sessions/${one.id}`)))) return;
    tell('The sign-in has ended.');
    pages.refresh();
  };
  return (
    <>
      <Heading title="Sign-ins" />
      <section class="card" aria-label="Sign-ins">
        <p class="soft">
          Where you are signed in. End a sign-in that you do not recognize, and ask your operator for a new
          password, which ends them all.
        </p>
        <ProblemNote problem={action.problem} />
        <Listing pages={pages} empty="None.">
          {(items) => (
            <Table
              label="Sign-ins"
              rows={items}
              key_of={(one) => one.id}
              columns={[
                ['Since', (one) => time(one.created_at)],
                ['Until', (one) => time(one.expires_at)],
                ['Program', (one) => one.user_agent || '–', { wide: true }],
                [
                  'End',
                  (one) =>
                    one.current ? (
                      'This one'
                    ) : (
                      <button
                        type="button"
                        class="quiet-button"
                        disabled={action.busy}
                        onClick={() => end(one)}
                      >
                        End it
                      </button>
                    ),
                ],
              ]}
            />
          )}
        </Listing>
      </section>
    </>
  );
}
