// SPDX-License-Identifier: Apache-2.0
// Build step: node openapi.mjs <openapi.yaml> <openapi.json> converts the API description.
import fs from 'node:fs';
import url from 'node:url';
import { LineCounter, isScalar, parseDocument, visit } from 'yaml';

/** Why a node must not be in the description; undefined: it may. */
function objection(node) {
  if (node.anchor || node.tag) return 'an anchor or a tag';
  // {d: one, two} has a key "two" without a value: a comma in text that is not quoted.
  if (isScalar(node) && node.value === null && node.source === '') return 'a value is missing';
  // "see # 5" ends at the "#": in most cases text that is not quoted.
  if (isScalar(node) && node.comment) return 'a comment after a value';
}

/**
 * The description as JSON. Throws Error("line N: problem") for what is no YAML, and for YAML that is likely a
 * mistake.
 */
export function to_json(yaml) {
  const lines = new LineCounter();
  const fail = (offset, what) => {
    throw new Error(`line ${lines.linePos(offset).line}: ${what}`);
  };
  const document = parseDocument(yaml, { lineCounter: lines, prettyErrors: false });
  const tab = yaml.indexOf('\t');
  if (tab >= 0) fail(tab, 'a tab');
  for (const wrong of [...document.errors, ...document.warnings]) fail(wrong.pos[0], wrong.message);
  if (document.contents === null) fail(0, 'nothing here');
  visit(document, {
    Alias: (_, node) => fail(node.range[0], 'an alias'),
    Pair: (_, { key, value }) => {
      if (value === null) fail(key.range[0], 'a value is missing');
    },
    Node: (_, node) => {
      const why = objection(node);
      if (why) fail(node.range[0], why);
    },
  });
  return JSON.stringify(document.toJS());
}

if (process.argv[1] === url.fileURLToPath(import.meta.url)) {
  const [source, target] = process.argv.slice(2);
  if (!target) {
    console.error('usage: node openapi.mjs <openapi.yaml> <openapi.json>');
    process.exit(2);
  }
  try {
    fs.writeFileSync(target, to_json(fs.readFileSync(source, 'utf8')));
  } catch (error) {
    console.error(`${source}: ${error.message}`);
    process.exit(1);
  }
}
