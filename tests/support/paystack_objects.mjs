// SPDX-License-Identifier: Apache-2.0
// Paystack's form of transactions and refunds, made from the objects of the stand-in. The shapes follow its
// API description and the samples of its documentation (github.com/PaystackOSS/doc-code-snippets). No state.

const integration = 412829;
const merchant = 'merchant@example.com';

function customer(email) {
  const id = [...email].reduce((sum, c) => (sum * 31 + c.charCodeAt(0)) % 1_000_000_000, 7);
  const nobody = {
    first_name: null,
    last_name: null,
    phone: null,
    metadata: null,
    international_format_phone: null,
  };
  return { id, ...nobody, email, customer_code: `CUS_${id.toString(36)}`, risk_action: 'default' };
}

const authorization_of = (t) => ({
  authorization_code: `AUTH_${t.access_code.slice(0, 10)}`,
  bin: '408408',
  last4: '4081',
  exp_month: '12',
  exp_year: '2040',
  channel: 'card',
  card_type: 'visa ',
  bank: 'TEST BANK',
  country_code: 'NG',
  brand: 'visa',
  reusable: true,
  signature: `SIG_${t.access_code}`,
  account_name: null,
});

const log_of = (t) => ({
  start_time: Math.floor(Date.parse(t.created_at) / 1000),
  time_spent: 4,
  attempts: t.attempts,
  errors: 0,
  success: t.paid_at !== null,
  mobile: false,
  input: [],
  history: [],
});

/** Form in /transaction/verify and charge.success. */
export function shownTransaction(t) {
  const is_paid = t.paid_at !== null;
  return {
    id: t.id,
    domain: 'test',
    status: t.status,
    reference: t.reference,
    receipt_number: null,
    amount: t.amount,
    message: null,
    gateway_response: t.gateway_response,
    paid_at: t.paid_at,
    created_at: t.created_at,
    channel: 'card',
    currency: t.currency,
    ip_address: '127.0.0.1',
    metadata: t.metadata,
    log: t.attempts > 0 ? log_of(t) : null,
    fees: is_paid ? Math.round(t.amount * 0.015) : null,
    fees_split: null,
    authorization: is_paid ? authorization_of(t) : {},
    customer: customer(t.email),
    plan: null,
    split: {},
    order_id: null,
    paidAt: t.paid_at,
    createdAt: t.created_at,
    requested_amount: t.requested_amount,
    pos_transaction_data: null,
    source: null,
    fees_breakdown: null,
    connect: null,
    transaction_date: t.created_at,
    plan_object: {},
    subaccount: {},
  };
}

/** The answer to POST /refund. It has the whole transaction; lists have its number. */
export function createdRefund(refund, t, now_ms) {
  const transaction = {
    id: t.id,
    domain: 'test',
    reference: t.reference,
    amount: t.amount,
    paid_at: t.paid_at,
    channel: 'card',
    currency: t.currency,
    authorization: { exp_month: null, exp_year: null, account_name: null },
    customer: { international_format_phone: null },
    plan: {},
    subaccount: { currency: null },
    split: {},
    order_id: null,
    paidAt: t.paid_at,
    pos_transaction_data: null,
    source: null,
    fees_breakdown: null,
  };
  return {
    transaction,
    integration,
    deducted_amount: 0,
    channel: null,
    merchant_note: refund.merchant_note,
    customer_note: refund.customer_note,
    status: refund.status,
    refunded_by: merchant,
    expected_at: new Date(now_ms + 10 * 24 * 3600 * 1000).toISOString(),
    currency: refund.currency,
    domain: 'test',
    amount: refund.amount,
    fully_deducted: false,
    id: refund.id,
    createdAt: refund.created_at,
    updatedAt: refund.created_at,
  };
}

/** Form in GET /refund and GET /refund/:id. */
export function shownRefund(refund, t) {
  const is_processed = refund.status === 'processed';
  return {
    integration,
    transaction: refund.transaction,
    dispute: null,
    settlement: null,
    id: refund.id,
    domain: 'test',
    currency: refund.currency,
    amount: refund.amount,
    status: refund.status,
    refunded_at: refund.refunded_at,
    refunded_by: merchant,
    customer_note: refund.customer_note,
    merchant_note: refund.merchant_note,
    deducted_amount: is_processed ? refund.amount : 0,
    fully_deducted: is_processed ? 1 : 0,
    createdAt: refund.created_at,
    bank_reference: null,
    transaction_reference: refund.reference,
    reason: 'customer_request',
    customer: customer(t.email),
    refund_type: refund.amount === t.amount ? 'full' : 'partial',
    transaction_amount: t.amount,
    initiated_by: merchant,
    refund_channel: 'migs',
    session_id: null,
    collect_account_number: false,
  };
}

/** Form in refund.* webhooks: without the id of POST /refund; in some the amount is text. As documented. */
export function toldRefund(refund, t) {
  const { first_name, last_name, email } = customer(t.email);
  const is_over = refund.status === 'processed' || refund.status === 'failed';
  return {
    status: refund.status,
    transaction_reference: refund.reference,
    refund_reference: is_over ? `TRF_${refund.id}` : null,
    amount: refund.status === 'failed' ? refund.amount : String(refund.amount),
    currency: refund.currency,
    processor: 'instant-transfer',
    customer: { first_name, last_name, email },
    integration,
    domain: 'test',
  };
}
