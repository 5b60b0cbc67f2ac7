// SPDX-License-Identifier: Apache-2.0
// Stripe's objects in the API of 2026, made from checked parameters. The shapes follow the type definitions
// of the official SDK. Unused fields have Stripe's defaults.
import { randomText } from './gateway_double.mjs';

const nobody = { city: null, country: null, line1: null, line2: null, postal_code: null, state: null };

export function makeSession(checked, { url, now_s, tax }) {
  const id = `cs_test_${randomText(58)}`;
  return {
    id,
    object: 'checkout.session',
    adaptive_pricing: null,
    after_expiration: null,
    allow_promotion_codes: null,
    amount_subtotal: checked.subtotal,
    amount_total: checked.subtotal + tax,
    automatic_tax: {
      enabled: checked.has_automatic_tax,
      liability: checked.has_automatic_tax ? { type: 'self' } : null,
      provider: checked.has_automatic_tax ? 'stripe' : null,
      status: checked.has_automatic_tax ? (tax > 0 ? 'complete' : 'requires_location_inputs') : null,
    },
    billing_address_collection: null,
    cancel_url: checked.cancel_url,
    client_reference_id: checked.client_reference_id,
    client_secret: null,
    collected_information: null,
    consent: null,
    consent_collection: null,
    created: now_s,
    currency: checked.currency,
    currency_conversion: null,
    custom_fields: [],
    custom_text: {
      after_submit: null,
      shipping_address: null,
      submit: null,
      terms_of_service_acceptance: null,
    },
    customer: null,
    customer_account: null,
    customer_creation: 'if_required',
    customer_details: checked.customer_email && {
      address: null,
      business_name: null,
      email: checked.customer_email,
      individual_name: null,
      name: null,
      phone: null,
      tax_exempt: 'none',
      tax_ids: null,
    },
    customer_email: checked.customer_email,
    discounts: [],
    expires_at: checked.expires_at,
    integration_identifier: null,
    invoice: null,
    invoice_creation: null,
    livemode: false,
    locale: checked.locale,
    metadata: checked.metadata,
    mode: 'payment',
    origin_context: null,
    payment_intent: null, // null before the first payment attempt (since 2022-08-01)
    payment_link: null,
    payment_method_collection: 'if_required',
    payment_method_configuration_details: null,
    payment_method_options: { card: { request_three_d_secure: 'automatic' } },
    payment_method_types: checked.payment_method_types,
    payment_status: 'unpaid',
    permissions: null,
    phone_number_collection: { enabled: false },
    recovered_from: null,
    saved_payment_method_options: null,
    setup_intent: null,
    shipping_address_collection: null,
    shipping_cost: null,
    shipping_options: [],
    status: 'open',
    submit_type: null,
    subscription: null,
    success_url: checked.success_url,
    total_details: { amount_discount: 0, amount_shipping: 0, amount_tax: tax },
    ui_mode: 'hosted_page',
    url: `${url}/c/pay/${id}`,
    wallet_options: null,
  };
}

/**
 * Amounts of a session's line items. Tax is split in proportion; the last item gets the rounding remainder.
 */
export function makeLineItems(session, items) {
  let tax_left = session.total_details.amount_tax;
  return items.map((item, i) => {
    const subtotal = item.unit_amount * item.quantity;
    const share = Math.floor(
      (session.total_details.amount_tax * subtotal) / Math.max(1, session.amount_subtotal),
    );
    const tax = i === items.length - 1 ? tax_left : share;
    tax_left -= tax;
    return {
      id: `li_${session.id.slice(-20)}${i}`,
      object: 'item',
      adjustable_quantity: null,
      amount_discount: 0,
      amount_subtotal: subtotal,
      amount_tax: tax,
      amount_total: subtotal + tax,
      currency: item.currency,
      description: item.name,
      metadata: {},
      price: {
        id: `price_${session.id.slice(-20)}${i}`,
        object: 'price',
        active: false,
        billing_scheme: 'per_unit',
        created: session.created,
        currency: item.currency,
        custom_unit_amount: null,
        livemode: false,
        lookup_key: null,
        metadata: {},
        nickname: null,
        product: `prod_${session.id.slice(-14)}`,
        recurring: null,
        tax_behavior: item.tax_behavior,
        tiers_mode: null,
        transform_quantity: null,
        type: 'one_time',
        unit_amount: item.unit_amount,
        unit_amount_decimal: String(item.unit_amount),
      },
      quantity: item.quantity,
    };
  });
}

export function makePaymentIntent(session, data, now_s) {
  const id = `pi_3${randomText(23)}`;
  return {
    id,
    object: 'payment_intent',
    amount: session.amount_total,
    amount_capturable: 0,
    amount_details: { tip: {} },
    amount_received: 0,
    application: null,
    application_fee_amount: data.application_fee_amount,
    automatic_payment_methods: null,
    canceled_at: null,
    cancellation_reason: null,
    capture_method: 'automatic_async',
    client_secret: `${id}_secret_${randomText(25)}`,
    confirmation_method: 'automatic',
    created: now_s,
    currency: session.currency,
    customer: null,
    customer_account: null,
    description: data.description,
    excluded_payment_method_types: null,
    last_payment_error: null,
    latest_charge: null,
    livemode: false,
    metadata: data.metadata,
    next_action: null,
    on_behalf_of: data.on_behalf_of,
    payment_method: null,
    payment_method_configuration_details: null,
    payment_method_options: {
      card: { installments: null, mandate_options: null, network: null, request_three_d_secure: 'automatic' },
    },
    payment_method_types: session.payment_method_types,
    processing: null,
    receipt_email: data.receipt_email,
    review: null,
    setup_future_usage: null,
    shipping: null,
    source: null,
    statement_descriptor: data.statement_descriptor,
    statement_descriptor_suffix: null,
    status: 'requires_payment_method',
    transfer_data: data.transfer_data,
    transfer_group: data.transfer_group,
  };
}

export function makeCharge(intent, now_s) {
  return {
    id: `ch_3${randomText(23)}`,
    object: 'charge',
    amount: intent.amount,
    amount_captured: intent.amount,
    amount_refunded: 0,
    application: null,
    application_fee: intent.application_fee_amount === null ? null : `fee_${randomText(24)}`,
    application_fee_amount: intent.application_fee_amount,
    balance_transaction: null,
    billing_details: { address: nobody, email: intent.receipt_email, name: null, phone: null, tax_id: null },
    calculated_statement_descriptor: intent.statement_descriptor ?? 'STAND-IN',
    captured: true,
    created: now_s,
    currency: intent.currency,
    customer: null,
    description: intent.description,
    destination: intent.transfer_data?.destination ?? null,
    disputed: false,
    failure_balance_transaction: null,
    failure_code: null,
    failure_message: null,
    fraud_details: {},
    livemode: false,
    metadata: intent.metadata,
    on_behalf_of: intent.on_behalf_of,
    outcome: {
      advice_code: null,
      network_advice_code: null,
      network_decline_code: null,
      network_status: 'approved_by_network',
      reason: null,
      risk_level: 'normal',
      seller_message: 'Payment complete.',
      type: 'authorized',
    },
    paid: true,
    payment_intent: intent.id,
    payment_method: intent.payment_method,
    payment_method_details: {
      type: 'card',
      card: { brand: 'visa', country: 'US', exp_month: 8, exp_year: 2040, funding: 'credit', last4: '4242' },
    },
    receipt_email: intent.receipt_email,
    receipt_number: null,
    receipt_url: null,
    refunded: false,
    review: null,
    shipping: null,
    source: null,
    source_transfer: null,
    statement_descriptor: intent.statement_descriptor,
    statement_descriptor_suffix: null,
    status: 'succeeded',
    transfer: intent.transfer_data ? `tr_${randomText(24)}` : undefined,
    transfer_data: intent.transfer_data && { amount: null, ...intent.transfer_data },
    transfer_group: intent.transfer_group,
  };
}

export function makeRefund(charge, checked, amount, status, now_s) {
  return {
    id: `re_3${randomText(23)}`,
    object: 'refund',
    amount,
    balance_transaction: null,
    charge: charge.id,
    created: now_s,
    currency: charge.currency,
    destination_details: {
      type: 'card',
      card: { reference_status: 'pending', reference_type: 'acquirer_reference_number', type: 'refund' },
    },
    metadata: checked.metadata,
    payment_intent: charge.payment_intent,
    reason: checked.reason,
    receipt_number: null,
    source_transfer_reversal: null,
    status,
    transfer_reversal: checked.reverse_transfer ? `trr_${randomText(24)}` : null,
  };
}

export const cardError = (code, decline_code, payment_method) => ({
  code,
  decline_code,
  doc_url: `https://docs.stripe.com/error-codes/${code.replaceAll('_', '-')}`,
  message: 'Your card was declined.',
  payment_method: {
    id: payment_method,
    object: 'payment_method',
    type: 'card',
    card: { brand: 'visa', last4: '0002' },
  },
  type: 'card_error',
});
