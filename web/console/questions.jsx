// SPDX-License-Identifier: Apache-2.0
// What an event asks its buyers or attendees. Part of the event's form.
import { new_key } from './api.mjs';
import { Area, Check, Choice, Field, Text } from './parts.jsx';

const questions_max = 10;
const kinds = Object.entries({ text: 'A text', choice: 'A choice', consent: 'A consent' });
const addressees = Object.entries({ buyer: 'The buyer', attendee: 'Each attendee' });

export const form_of_questions = (questions) =>
  (questions ?? []).map((q) => ({
    key: String(q.id),
    id: q.id,
    label: q.label,
    kind: q.kind,
    to: q.to,
    required: q.required,
    choices: (q.choices ?? []).join('\n'),
  }));

const lines = (text) =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean);

export const body_of_questions = (questions) =>
  questions.map(({ id, label, kind, to, required, choices }) => ({
    ...(id && { id }),
    label: label.trim(),
    kind,
    to,
    required,
    ...(kind === 'choice' && { choices: lines(choices) }),
  }));

function Question({ question, index, set, remove, wrong }) {
  const put = (name) => (value) => set({ ...question, [name]: value });
  return (
    <fieldset class="boxed">
      <legend>Question {index + 1}</legend>
      <div class="fields">
        <Field label="Text of the question" wrong={wrong('label')} class="wide">
          <Text value={question.label} set={put('label')} required maxLength={200} />
        </Field>
        <Field label="Answer" wrong={wrong('kind')}>
          <Choice value={question.kind} set={put('kind')} options={kinds} />
        </Field>
        <Field label="Who answers" wrong={wrong('to')}>
          <Choice value={question.to} set={put('to')} options={addressees} />
        </Field>
        {question.kind === 'choice' && (
          <Field label="Choices, one a line" wrong={wrong('choices')} class="wide">
            <Area value={question.choices} set={put('choices')} rows={4} required />
          </Field>
        )}
      </div>
      <div class="row">
        <Check label="Must be answered" value={question.required} set={put('required')} />
        <button type="button" class="quiet-button" onClick={remove}>
          Remove
        </button>
      </div>
    </fieldset>
  );
}

export function Questions({ questions, set, wrong }) {
  const put = (index) => (question) => set(questions.map((q, i) => (i === index ? question : q)));
  const add = () =>
    set([
      ...questions,
      { key: new_key(), label: '', kind: 'text', to: 'buyer', required: false, choices: '' },
    ]);
  return (
    <section class="card" aria-labelledby="questions-title">
      <h2 id="questions-title">Questions</h2>
      <p class="soft">The shop asks them before payment. Orders and their export have the answers.</p>
      {questions.map((question, index) => (
        <Question
          key={question.key}
          question={question}
          index={index}
          set={put(index)}
          remove={() => set(questions.filter((_, i) => i !== index))}
          wrong={(name) => wrong(`questions[${index}].${name}`)}
        />
      ))}
      {questions.length < questions_max && (
        <p>
          <button type="button" class="button plain" onClick={add}>
            Add a question
          </button>
        </p>
      )}
    </section>
  );
}
