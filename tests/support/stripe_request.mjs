// SPDX-License-Identifier: Apache-2.0
// Parses requests to the Stripe stand-in: form bodies with nested keys, and Stripe's checks of parameters.
// Facts from docs.stripe.com/api and the parameter lists of the official SDK. No state, no clock.

/** A refusal in Stripe's shape; `fields` go into the error object. */
export class StripeError extends Error {
  constructor(status, message, fields = {}) {
    super(message);
    this.status = status;
    this.error = { type: 'invalid_request_error', ...fields, message };
  }
}

const refuse = (message, param, code) => {
  throw new StripeError(400, message, { ...(code && { code }), ...(param && { param }) });
};

// -- form bodies --------------------------------------------------------------------------------------------

const decode = (text) => {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return refuse('Invalid request: the body is not form-encoded');
  }
};

/** Keys 0, 1, 2, ... form an array. */
function arranged(node) {
  if (typeof node !== 'object') return node;
  const keys = Object.keys(node);
  const values = keys.map((key) => arranged(node[key]));
  if (keys.length > 0 && keys.every((key, i) => key === String(i))) return values;
  return Object.fromEntries(keys.map((key, i) => [key, values[i]]));
}

/** `a[b][0][c]=d&e[]=f` as {a: {b: [{c: 'd'}]}, e: ['f']}: every leaf a string. */
export function parseForm(text) {
  const root = Object.create(null);
  for (const pair of text.split('&')) {
    if (pair === '') continue;
    const at = pair.indexOf('=');
    const [name, value] = at < 0 ? [pair, ''] : [pair.slice(0, at), pair.slice(at + 1)];
    const path = decode(name).replaceAll(']', '').split('[');
    let node = root;
    for (const key of path.slice(0, -1)) {
      node[key] ??= Object.create(null);
      if (typeof node[key] !== 'object')
        refuse(`Invalid ${path[0]}: must be either a value or an object`, path[0]);
      node = node[key];
    }
    const last = path.at(-1) === '' ? String(Object.keys(node).length) : path.at(-1);
    node[last] = decode(value);
  }
  return arranged(root);
}

// -- checks -------------------------------------------------------------------------------------------------

const words = (text) => new Set(text.trim().split(/\s+/));

/** Stripe's parameters of the objects that our client might send. Others are refused, as at Stripe. */
const known = {
  session:
    words(`adaptive_pricing after_expiration allow_promotion_codes automatic_tax billing_address_collection branding_settings
    cancel_url client_reference_id consent_collection currency custom_fields custom_text customer customer_account customer_creation
    customer_email customer_update discounts excluded_payment_method_types expand expires_at integration_identifier invoice_creation
    line_items locale managed_payments metadata mode name_collection optional_items origin_context payment_intent_data
    payment_method_collection payment_method_configuration payment_method_data payment_method_options payment_method_types permissions
    phone_number_collection redirect_on_completion return_url saved_payment_method_options setup_intent_data
    shipping_address_collection shipping_options submit_type subscription_data success_url tax_id_collection ui_mode wallet_options`),
  line_item: words('adjustable_quantity metadata price price_data quantity tax_rates'),
  price_data: words('currency product product_data recurring tax_behavior unit_amount unit_amount_decimal'),
  product_data: words('description images metadata name tax_code unit_label'),
  automatic_tax: words('enabled liability'),
  payment_intent_data:
    words(`application_fee_amount capture_method description metadata on_behalf_of receipt_email setup_future_usage
    shipping statement_descriptor statement_descriptor_suffix transfer_data transfer_group`),
  transfer_data: words('amount destination'),
  refund:
    words(`amount charge currency customer expand instructions_email metadata origin payment_intent reason
    refund_application_fee reverse_transfer`),
};

function check_known(object, kind, where) {
  if (object === undefined) return;
  if (typeof object !== 'object') refuse('Invalid object', where);
  for (const name of Object.keys(object)) {
    const param = where ? `${where}[${name}]` : name;
    if (!known[kind].has(name)) refuse(`Received unknown parameter: ${param}`, param, 'parameter_unknown');
  }
}

const required = (value, param) => {
  if (value === undefined) refuse(`Missing required param: ${param}.`, param, 'parameter_missing');
  if (value === '') refuse(`You passed an empty string for '${param}'.`, param, 'parameter_invalid_empty');
  return value;
};

function integer(value, param, { min = 0, max = Number.MAX_SAFE_INTEGER } = {}) {
  if (typeof value !== 'string' || !/^-?\d+$/.test(value))
    refuse(`Invalid integer: ${value}`, param, 'parameter_invalid_integer');
  const number = Number(value);
  if (number < min)
    refuse(`This value must be greater than or equal to ${min}.`, param, 'parameter_invalid_integer');
  if (number > max)
    refuse(`This value must be less than or equal to ${max}.`, param, 'parameter_invalid_integer');
  return number;
}

function boolean(value, param) {
  if (value === undefined) return undefined;
  if (value !== 'true' && value !== 'false') refuse(`Invalid boolean: ${value}`, param);
  return value === 'true';
}

function url(value, param) {
  if (value === undefined) return undefined;
  // {CHECKOUT_SESSION_ID} is replaced later.
  if (!/^https?:\/\//.test(value) || !URL.canParse(value.replaceAll(/[{}]/g, 'x')))
    refuse('Not a valid URL', param, 'url_invalid');
  return value;
}
function currency(value, param) {
  required(value, param);
  if (!/^[a-z]{3}$/.test(value))
    refuse(`Invalid currency: ${value}. It must be a three-letter ISO code in lower case`, param);
  return value;
}

export function metadata(value, param = 'metadata') {
  if (value === undefined || value === '') return {};
  if (typeof value !== 'object') refuse('Invalid object', param);
  const entries = Object.entries(value).filter(([, text]) => text !== '');
  if (entries.length > 50) refuse('Metadata can have up to 50 keys', param);
  for (const [key, text] of entries) {
    if (typeof text !== 'string') refuse('Metadata values must be strings', `${param}[${key}]`);
    if (key.length > 40) refuse('Metadata keys can have up to 40 characters', `${param}[${key}]`);
    if (text.length > 500) refuse('Metadata values can have up to 500 characters', `${param}[${key}]`);
  }
  return Object.fromEntries(entries);
}

function line_item(item, where) {
  check_known(item, 'line_item', where);
  if (item.price !== undefined)
    throw new StripeError(400, `No such price: '${item.price}'`, {
      code: 'resource_missing',
      param: `${where}[price]`,
    });
  const data = required(item.price_data, `${where}[price_data]`);
  check_known(data, 'price_data', `${where}[price_data]`);
  const product = required(data.product_data, `${where}[price_data][product_data]`);
  check_known(product, 'product_data', `${where}[price_data][product_data]`);
  if (data.recurring) refuse('You specified `payment` mode but passed a recurring price.', where);
  return {
    name: required(product.name, `${where}[price_data][product_data][name]`),
    description: product.description ?? null,
    currency: currency(data.currency, `${where}[price_data][currency]`),
    unit_amount: integer(
      required(data.unit_amount, `${where}[price_data][unit_amount]`),
      `${where}[price_data][unit_amount]`,
    ),
    quantity: integer(required(item.quantity, `${where}[quantity]`), `${where}[quantity]`, { min: 1 }),
    tax_behavior: data.tax_behavior ?? 'unspecified',
  };
}

function fee_of(data, total) {
  if (data.application_fee_amount === undefined) return null;
  const param = 'payment_intent_data[application_fee_amount]';
  const fee = integer(data.application_fee_amount, param);
  if (data.transfer_data?.destination === undefined)
    refuse(
      'Can only apply an application_fee_amount to a destination payment (using `transfer_data[destination]`).',
      param,
    );
  if (fee > total) refuse('Your application fee is larger than the amount of the payment.', param);
  return fee;
}

function expiry(value, now_s) {
  if (value === undefined) return now_s + 24 * 3600;
  const at = integer(value, 'expires_at');
  if (at < now_s + 30 * 60)
    refuse(
      'The `expires_at` timestamp must be at least 30 minutes from Checkout Session creation.',
      'expires_at',
    );
  if (at > now_s + 24 * 3600)
    refuse(
      'The `expires_at` timestamp must be less than 24 hours from Checkout Session creation.',
      'expires_at',
    );
  return at;
}

/**
 * The checked parameters of a Checkout Session in payment mode. `now_s`: the gateway's clock; `minimum`: of a
 * total, in minor units.
 */
export function checkedSession(params, now_s, minimum) {
  check_known(params, 'session', '');
  required(params.mode ?? undefined, 'mode');
  if (params.mode !== 'payment')
    refuse(`Invalid mode: must be one of payment, setup, or subscription`, 'mode');
  if (!['hosted_page', 'hosted', undefined].includes(params.ui_mode))
    refuse('the stand-in has hosted pages only', 'ui_mode');
  required(params.line_items, 'line_items');
  if (!Array.isArray(params.line_items)) refuse('Invalid array', 'line_items');
  if (params.line_items.length > 100) refuse('Invalid array: maximum 100 elements', 'line_items');
  const items = params.line_items.map((item, i) => line_item(item, `line_items[${i}]`));
  const [{ currency: first }] = items;
  if (items.some((item) => item.currency !== first))
    refuse('All line items must have the same currency.', 'line_items');
  const total = items.reduce((sum, item) => sum + item.unit_amount * item.quantity, 0);
  if (total < minimum)
    refuse(
      `The Checkout Session's total amount must convert to at least ${minimum} minor units.`,
      'line_items',
      'amount_too_small',
    );
  if (total > 99_999_999)
    refuse('The total amount must be no more than 99999999.', 'line_items', 'amount_too_large');
  const data = params.payment_intent_data ?? {};
  check_known(data, 'payment_intent_data', 'payment_intent_data');
  check_known(data.transfer_data, 'transfer_data', 'payment_intent_data[transfer_data]');
  if (data.transfer_data)
    required(data.transfer_data.destination, 'payment_intent_data[transfer_data][destination]');
  check_known(params.automatic_tax, 'automatic_tax', 'automatic_tax');
  if (params.client_reference_id?.length > 200)
    refuse('client_reference_id can have up to 200 characters', 'client_reference_id');
  if (params.customer_email !== undefined && !/^[^@\s]+@[^@\s]+\.[^@\s]+$/.test(params.customer_email))
    refuse(`Invalid email address: ${params.customer_email}`, 'customer_email', 'email_invalid');
  return {
    items,
    currency: first,
    subtotal: total,
    expires_at: expiry(params.expires_at, now_s),
    success_url: url(required(params.success_url, 'success_url'), 'success_url'),
    cancel_url: url(params.cancel_url, 'cancel_url') ?? null,
    client_reference_id: params.client_reference_id ?? null,
    customer_email: params.customer_email ?? null,
    locale: params.locale ?? null,
    metadata: metadata(params.metadata),
    has_automatic_tax: boolean(params.automatic_tax?.enabled, 'automatic_tax[enabled]') ?? false,
    payment_method_types: params.payment_method_types ?? ['card'],
    payment_intent: {
      application_fee_amount: fee_of(data, total),
      description: data.description ?? null,
      metadata: metadata(data.metadata, 'payment_intent_data[metadata]'),
      on_behalf_of: data.on_behalf_of ?? null,
      receipt_email: data.receipt_email ?? null,
      statement_descriptor: data.statement_descriptor ?? null,
      transfer_data: data.transfer_data ? { destination: data.transfer_data.destination } : null,
      transfer_group: data.transfer_group ?? null,
    },
  };
}

/** The checked parameters of a refund; does not check whether money is left to refund. */
export function checkedRefund(params) {
  check_known(params, 'refund', '');
  if (params.payment_intent === undefined && params.charge === undefined)
    refuse(
      'One of the following params should be provided for this request: payment_intent or charge.',
      undefined,
      'parameter_missing',
    );
  if (!['duplicate', 'fraudulent', 'requested_by_customer', undefined].includes(params.reason))
    refuse('Invalid reason', 'reason');
  return {
    payment_intent: params.payment_intent,
    charge: params.charge,
    amount: params.amount === undefined ? undefined : integer(params.amount, 'amount', { min: 1 }),
    reason: params.reason ?? null,
    metadata: metadata(params.metadata),
    reverse_transfer: boolean(params.reverse_transfer, 'reverse_transfer') ?? false,
    refund_application_fee: boolean(params.refund_application_fee, 'refund_application_fee') ?? false,
  };
}

/** `limit` and cursors of a list. */
export function checkedPage(params) {
  const limit = params.limit === undefined ? 10 : integer(params.limit, 'limit', { min: 1, max: 100 });
  return { limit, starting_after: params.starting_after, ending_before: params.ending_before };
}
