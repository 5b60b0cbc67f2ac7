// SPDX-License-Identifier: Apache-2.0
// Who reaches whose objects: every route of the server with every identity. The routes come from
// /openapi.json, which has exactly the rows of the route tables (tests/net/ops/openapi_test.cpp). A route
// without a row in `expected` fails the test, and so does a row without a route.
import test from 'node:test';
import crypto from 'node:crypto';
import { assert, check_browser_fields, eventually, server_for } from './lib.mjs';
import { populate, settings } from './world.mjs';

/**
 * fan: has a place, an order and a payment at org's event. org: organizer of the event. oper: operator of the
 * tenant of the queue, the ticket and the webhook endpoint. The others are strangers of the same kind: fan2
 * has nothing, org2 is another organizer of the same tenant, oper2 and the keys join2, server2 and
 * operate2 belong to another tenant, ticket2 is a place in another queue. guest has not signed in.
 */
const identities = [
  'none',
  'fan',
  'fan2',
  'org',
  'org2',
  'oper',
  'oper2',
  'join2',
  'server2',
  'operate2',
  'ticket',
  'ticket2',
  'guest',
];

/** The status for each identity, in their order. "-": the rightful owner's change, which other tests make. */
const expected = {
  'POST /auth/organizer/login': '401 - - - - - - - - - - - -',
  'GET /auth/organizer/sessions': '401 403 403 200 200 200 200 401 401 401 403 403 403',
  'DELETE /auth/organizer/sessions/{id}': '401 403 403 404 404 404 404 401 401 401 403 403 403',
  'GET /auth/challenge': '200 200 200 200 200 200 200 200 200 200 200 200 200',
  'POST /auth/challenge': '400 400 400 400 400 400 400 400 400 400 400 400 400',
  'POST /auth/customer/otp/request': '202 - - - - - - - - - - - -',
  'POST /auth/customer/otp/verify': '401 - - - - - - - - - - - -',
  'POST /guests': '201 201 201 201 201 201 201 201 201 201 201 201 201',
  'POST /events': '401 403 403 201 201 201 201 401 401 401 403 403 403',
  'GET /events': '200 200 200 200 200 200 200 401 401 401 200 200 200',
  'GET /events/{id}': '200 200 200 200 200 200 200 401 401 401 200 200 200',
  'PATCH /events/{id}': '401 403 403 - 404 404 404 401 401 401 403 403 403',
  'GET /events/{id}/seats': '404 404 404 404 404 404 404 401 401 401 404 404 404',
  'PATCH /events/{id}/seats': '401 403 403 - 404 404 404 401 401 401 403 403 403',
  'GET /events/{id}/seat-plan': '404 404 404 404 404 404 404 401 401 401 404 404 404',
  'PUT /events/{id}/seat-plan': '401 403 403 - 404 404 404 401 401 401 403 403 403',
  'DELETE /events/{id}/seat-plan': '401 403 403 - 404 404 404 401 401 401 403 403 403',
  'PUT /events/{id}/seat-plan/hall': '401 403 403 - 404 404 404 401 401 401 403 403 403',
  'PUT /events/{id}/seat-plan/copy': '401 403 403 - 404 404 404 401 401 401 403 403 403',
  'GET /seat-plans': '401 403 403 200 200 200 200 401 401 401 403 403 403',
  'POST /seat-plans': '401 403 403 201 201 201 201 401 401 401 403 403 403',
  'POST /seat-plans/hall': '401 403 403 201 201 201 201 401 401 401 403 403 403',
  'GET /seat-plans/{seat_plan_id}': '401 403 403 200 404 404 404 401 401 401 403 403 403',
  'PUT /seat-plans/{seat_plan_id}': '401 403 403 - 404 404 404 401 401 401 403 403 403',
  'DELETE /seat-plans/{seat_plan_id}': '401 403 403 - 404 404 404 401 401 401 403 403 403',
  'PUT /events/{id}/picture': '401 403 403 - 404 404 404 401 401 401 403 403 403',
  'DELETE /events/{id}/picture': '401 403 403 - 404 404 404 401 401 401 403 403 403',
  'GET /events/{id}/queue/receipt': '401 200 404 403 403 403 403 401 401 401 403 403 404',
  'GET /events/{id}/log/checkpoint': '200 200 200 200 200 200 200 200 200 200 200 200 200',
  'GET /events/{id}/log/checkpoint.cosigned': '404 404 404 404 404 404 404 404 404 404 404 404 404',
  'GET /events/{id}/log/key': '200 200 200 200 200 200 200 200 200 200 200 200 200',
  'GET /events/{id}/log/tile/{level}/{n}': '404 404 404 404 404 404 404 404 404 404 404 404 404',
  'GET /events/{id}/log/tile/{level}/{n}/{m}': '404 404 404 404 404 404 404 404 404 404 404 404 404',
  'GET /events/{id}/log/tile/{level}/{n}/{m}/{o}': '404 404 404 404 404 404 404 404 404 404 404 404 404',
  'GET /tickets/{id}/receipt': '401 403 403 403 403 403 403 401 401 401 200 404 403',
  'GET /queues/{id}/log/checkpoint': '200 200 200 200 200 200 200 200 200 200 200 200 200',
  'GET /queues/{id}/log/checkpoint.cosigned': '404 404 404 404 404 404 404 404 404 404 404 404 404',
  'GET /queues/{id}/log/key': '200 200 200 200 200 200 200 200 200 200 200 200 200',
  'GET /queues/{id}/log/tile/{level}/{n}': '404 404 404 404 404 404 404 404 404 404 404 404 404',
  'GET /queues/{id}/log/tile/{level}/{n}/{m}': '404 404 404 404 404 404 404 404 404 404 404 404 404',
  'GET /queues/{id}/log/tile/{level}/{n}/{m}/{o}': '404 404 404 404 404 404 404 404 404 404 404 404 404',
  'POST /witness/add-checkpoint': '400 400 400 400 400 400 400 400 400 400 400 400 400',
  'GET /witness/key': '200 200 200 200 200 200 200 200 200 200 200 200 200',
  'GET /witness/{log}/checkpoint': '404 404 404 404 404 404 404 404 404 404 404 404 404',
  'GET /tenant/logo': '401 403 403 200 200 200 200 401 401 401 403 403 403',
  'PUT /tenant/logo': '401 403 403 422 422 422 422 401 401 401 403 403 403',
  'DELETE /tenant/logo': '401 403 403 200 200 200 200 401 401 401 403 403 403',
  'GET /pictures/{name}': '404 404 404 404 404 404 404 404 404 404 404 404 404',
  'GET /events/{id}/stats': '401 403 403 200 404 404 404 401 401 401 403 403 403',
  'GET /events/{id}/statistics': '401 403 403 200 404 404 404 401 401 401 403 403 403',
  'GET /events/{id}/report': '401 403 403 200 404 404 404 401 401 401 403 403 403',
  'GET /events/{id}/report.csv': '401 403 403 200 404 404 404 401 401 401 403 403 403',
  'GET /events/{id}/report.pdf': '401 403 403 200 404 404 404 401 401 401 403 403 403',
  'POST /events/{id}/activate': '401 403 403 - 404 404 404 401 401 401 403 403 403',
  'PUT /events/{id}/activate': '401 403 403 - 404 404 404 401 401 401 403 403 403',
  'POST /events/{id}/pause': '401 403 403 - 404 404 404 401 401 401 403 403 403',
  'PUT /events/{id}/pause': '401 403 403 - 404 404 404 401 401 401 403 403 403',
  'POST /events/{id}/resume': '401 403 403 - 404 404 404 401 401 401 403 403 403',
  'PUT /events/{id}/resume': '401 403 403 - 404 404 404 401 401 401 403 403 403',
  'POST /events/{id}/end': '401 403 403 - 404 404 404 401 401 401 403 403 403',
  'PUT /events/{id}/end': '401 403 403 - 404 404 404 401 401 401 403 403 403',
  'POST /events/{id}/cancel': '401 403 403 - 404 404 404 401 401 401 403 403 403',
  'PUT /events/{id}/cancel': '401 403 403 - 404 404 404 401 401 401 403 403 403',
  'GET /events/{id}/challenge': '200 200 200 200 200 200 200 200 200 200 200 200 200',
  'POST /events/{id}/challenge': '400 400 400 400 400 400 400 400 400 400 400 400 400',
  'GET /queues/{id}/challenge': '200 200 200 200 200 200 200 200 200 200 200 200 200',
  'POST /queues/{id}/challenge': '400 400 400 400 400 400 400 400 400 400 400 400 400',
  'POST /events/{id}/queue': '401 - 422 403 403 403 403 401 401 401 403 403 409',
  'DELETE /events/{id}/queue': '401 - 404 403 403 403 403 401 401 401 403 403 404',
  'POST /events/{id}/queue/party': '401 - 404 403 403 403 403 401 401 401 403 403 404',
  'GET /events/{id}/queue/position': '401 200 404 403 403 403 403 401 401 401 403 403 404',
  'GET /ws/queue/{event_id}': '401 426 404 403 403 403 403 401 401 401 403 403 404',
  'POST /events/{id}/claims': '401 - 403 403 403 403 403 401 401 401 403 403 403',
  'GET /claims/{id}': '401 200 404 403 403 403 403 401 401 401 403 403 403',
  'DELETE /claims/{id}': '401 - 404 403 403 403 403 401 401 401 403 403 403',
  'POST /claims/{id}/payments': '401 - 404 403 403 403 403 401 401 401 403 403 404',
  'GET /payments/{id}': '401 200 404 403 403 403 403 401 401 401 403 403 403',
  'POST /events/{id}/quote': '401 200 200 403 403 403 403 401 401 401 403 403 409',
  'POST /checkout': '401 - 403 403 403 403 403 401 401 401 403 403 403',
  'GET /checkout/return': '200 200 200 200 200 200 200 200 200 200 200 200 200',
  'GET /orders': '401 200 200 403 403 403 403 401 401 401 403 403 403',
  'GET /orders/{id}': '401 200 404 200 404 404 404 401 401 401 403 403 403',
  'DELETE /orders/{id}': '401 - 404 403 403 403 403 401 401 401 403 403 404',
  'GET /orders/{id}/status': '401 200 404 403 403 403 403 401 401 401 403 403 404',
  'POST /orders/{id}/refunds': '401 403 403 - 404 404 404 401 401 401 403 403 403',
  'POST /orders/{id}/resend': '401 403 403 - 404 404 404 401 401 401 403 403 403',
  'GET /events/{id}/orders': '401 403 403 200 404 404 404 401 401 401 403 403 403',
  'GET /event-tickets': '401 200 200 403 403 403 403 401 401 401 403 403 403',
  'GET /event-tickets/{id}': '401 200 404 200 404 404 404 401 401 401 403 403 403',
  'GET /event-tickets/{id}.pdf': '401 200 404 403 403 403 403 401 401 401 403 403 403',
  'POST /event-tickets/{id}/transfer': '401 - 404 403 403 403 403 401 401 401 403 403 403',
  'GET /event-tickets/transfers': '401 200 200 403 403 403 403 401 401 401 403 403 403',
  'POST /event-tickets/transfers/{id}/accept': '401 404 404 403 403 403 403 401 401 401 403 403 403',
  'POST /event-tickets/transfers/{id}/decline': '401 404 404 403 403 403 403 401 401 401 403 403 403',
  'POST /event-tickets/transfers/{id}/withdraw': '401 - 404 403 403 403 403 401 401 401 403 403 403',
  'GET /orders/{id}/event-tickets.pdf': '401 200 404 403 403 403 403 401 401 401 403 403 403',
  'GET /events/{id}/event-tickets': '401 403 403 200 404 404 404 401 401 401 403 403 403',
  'POST /events/{id}/event-tickets/rotate-keys': '401 403 403 - 404 404 404 401 401 401 403 403 403',
  'GET /events/{id}/checkin': '401 403 403 200 404 404 404 401 401 401 403 403 403',
  'GET /events/{id}/checkin/conflicts': '401 403 403 200 404 404 404 401 401 401 403 403 403',
  'POST /events/{id}/checkin/lists': '401 403 403 - 404 404 404 401 401 401 403 403 403',
  'PATCH /events/{id}/checkin/lists/{list_id}': '401 403 403 - 404 404 404 401 401 401 403 403 403',
  'DELETE /events/{id}/checkin/lists/{list_id}': '401 403 403 - 404 404 404 401 401 401 403 403 403',
  'POST /events/{id}/checkin/devices': '401 403 403 - 404 404 404 401 401 401 403 403 403',
  'DELETE /events/{id}/checkin/devices/{device_id}': '401 403 403 - 404 404 404 401 401 401 403 403 403',
  'GET /checkin': '401 401 401 401 401 401 401 401 401 401 401 401 401',
  'POST /checkin/redeem': '401 401 401 401 401 401 401 401 401 401 401 401 401',
  'POST /checkin/search': '401 401 401 401 401 401 401 401 401 401 401 401 401',
  'GET /checkin/{list_id}/state': '401 401 401 401 401 401 401 401 401 401 401 401 401',
  'GET /events/{id}/orders.csv': '401 403 403 200 404 404 404 401 401 401 403 403 403',
  'POST /events/{id}/orders/search': '401 403 403 200 404 404 404 401 401 401 403 403 403',
  'POST /events/{id}/promo-codes': '401 403 403 - 404 404 404 401 401 401 403 403 403',
  'GET /events/{id}/promo-codes': '401 403 403 200 404 404 404 401 401 401 403 403 403',
  'GET /events/{id}/promo-codes/{code_id}': '401 403 403 200 404 404 404 401 401 401 403 403 403',
  'PATCH /events/{id}/promo-codes/{code_id}': '401 403 403 - 404 404 404 401 401 401 403 403 403',
  'DELETE /events/{id}/promo-codes/{code_id}': '401 403 403 - 404 404 404 401 401 401 403 403 403',
  'POST /events/{id}/vips': '401 403 403 - 404 404 404 401 401 401 403 403 403',
  'DELETE /events/{id}/vips': '401 403 403 - 404 404 404 401 401 401 403 403 403',
  'GET /events/{id}/vips': '401 403 403 200 404 404 404 401 401 401 403 403 403',
  'POST /events/{id}/invitations': '401 403 403 - 404 404 404 401 401 401 403 403 403',
  'DELETE /events/{id}/invitations': '401 403 403 - 404 404 404 401 401 401 403 403 403',
  'GET /events/{id}/invitations': '401 403 403 200 404 404 404 401 401 401 403 403 403',
  'GET /events/{id}/invitations/me': '401 404 404 403 403 403 403 401 401 401 403 403 403',
  'POST /blocked-customers': '401 403 403 200 200 200 200 401 401 401 403 403 403',
  'GET /blocked-customers': '401 403 403 200 200 200 200 401 401 401 403 403 403',
  'DELETE /blocked-customers/{customer_id}': '401 403 403 - 404 404 404 401 401 401 403 403 403',
  'GET /notice-routes': '401 403 403 403 403 200 200 401 401 401 403 403 403',
  'PUT /notice-routes': '401 403 403 403 403 200 200 401 401 401 403 403 403',
  'GET /dead-letters': '401 403 403 200 200 200 200 401 401 401 403 403 403',
  'POST /dead-letters/{id}/retry': '401 403 403 404 404 404 404 401 401 401 403 403 403',
  'POST /dead-letters/{id}/dismiss': '401 403 403 404 404 404 404 401 401 401 403 403 403',
  'GET /tasks': '401 403 403 200 200 403 403 401 401 401 403 403 403',
  'GET /tasks/history': '401 403 403 200 200 403 403 401 401 401 403 403 403',
  'GET /settings': '401 403 403 403 403 403 403 401 401 401 403 403 403',
  'PATCH /settings': '401 403 403 403 403 403 403 401 401 401 403 403 403',
  'POST /events/{id}/draw/beacon': '401 403 403 - 404 404 404 401 401 401 403 403 403',
  'POST /events/{id}/draw/end-wait': '401 403 403 403 403 404 404 401 401 401 403 403 403',
  'POST /events/{id}/advance': '401 403 403 - 404 404 404 401 401 401 403 403 403',
  'POST /events/{id}/revocations': '401 403 403 - 404 404 404 401 401 401 403 403 403',
  'POST /events/{id}/places/search': '401 403 403 404 404 404 404 401 401 401 403 403 403',
  'GET /audit': '401 403 403 200 200 200 200 401 401 401 403 403 403',
  'GET /audit.csv': '401 403 403 200 200 200 200 401 401 401 403 403 403',
  'POST /sessions': '401 401 401 401 401 401 401 403 403 201 401 401 401',
  'POST /queues': '401 403 403 201 409 201 201 401 401 401 403 403 403',
  'GET /queues': '401 403 403 200 200 200 200 401 401 401 403 403 403',
  'GET /queues/{id}': '401 403 403 404 404 200 404 401 401 401 403 403 403',
  'PATCH /queues/{id}': '401 403 403 404 404 - 404 401 401 401 403 403 403',
  'GET /queues/{id}/stats': '401 403 403 404 404 200 404 401 401 401 403 403 403',
  'GET /queues/{id}/statistics': '401 403 403 404 404 200 404 401 401 401 403 403 403',
  'POST /queues/{id}/draw/beacon': '401 403 403 404 404 - 404 401 401 401 403 403 403',
  'POST /queues/{id}/draw/end-wait': '401 403 403 403 403 - 404 401 401 401 403 403 403',
  'POST /queues/{id}/advance': '401 403 403 404 404 - 404 401 401 401 403 403 403',
  'POST /queues/{id}/pause': '401 403 403 404 404 - 404 401 401 401 403 403 403',
  'POST /queues/{id}/resume': '401 403 403 404 404 - 404 401 401 401 403 403 403',
  'POST /queues/{id}/revocations': '401 403 403 404 404 - 404 401 401 401 403 403 403',
  'POST /queues/{id}/places/search': '401 403 403 404 404 404 404 401 401 401 403 403 403',
  'POST /queues/{id}/tickets': '401 401 401 401 401 401 401 403 404 403 401 401 401',
  'GET /tickets/{id}': '401 403 403 403 403 403 403 401 401 401 200 404 403',
  'POST /tickets/{id}/party': '401 403 403 403 403 403 403 401 401 401 - 404 403',
  'DELETE /tickets/{id}': '401 403 403 403 403 403 403 401 401 401 - 404 403',
  'GET /tickets/{id}/ws': '401 403 403 403 403 403 403 401 401 401 426 404 403',
  'POST /tickets/{id}/devices': '401 403 403 403 403 403 403 401 401 401 - 404 403',
  'GET /tickets/{id}/devices': '401 403 403 403 403 403 403 401 401 401 200 404 403',
  'DELETE /tickets/{id}/devices/{device_id}': '401 403 403 403 403 403 403 401 401 401 - 404 403',
  'GET /tickets/{id}/deliveries': '401 403 403 403 403 403 403 401 401 401 200 404 403',
  'GET /customers/me': '401 404 404 403 403 403 403 401 401 401 403 403 403',
  'DELETE /customers/me': '401 - 404 403 403 403 403 401 401 401 403 403 403',
  'POST /customers/me/devices': '401 - 400 403 403 403 403 401 401 401 403 403 403',
  'GET /customers/me/devices': '401 200 200 403 403 403 403 401 401 401 403 403 403',
  'DELETE /customers/me/devices/{device_id}': '401 - 404 403 403 403 403 401 401 401 403 403 403',
  'GET /customers/me/deliveries': '401 200 200 403 403 403 403 401 401 401 403 403 403',
  'POST /webhook-endpoints': '401 403 403 400 400 400 400 401 401 401 403 403 403',
  'GET /webhook-endpoints': '401 403 403 200 200 200 200 401 401 401 403 403 403',
  'GET /webhook-endpoints/{endpoint_id}': '401 403 403 404 404 200 404 401 401 401 403 403 403',
  'PATCH /webhook-endpoints/{endpoint_id}': '401 403 403 404 404 - 404 401 401 401 403 403 403',
  'DELETE /webhook-endpoints/{endpoint_id}': '401 403 403 404 404 - 404 401 401 401 403 403 403',
  'POST /webhook-endpoints/{endpoint_id}/secret': '401 403 403 404 404 - 404 401 401 401 403 403 403',
  'POST /webhook-endpoints/{endpoint_id}/test': '401 403 403 404 404 - 404 401 401 401 403 403 403',
  'GET /webhook-endpoints/{endpoint_id}/deliveries': '401 403 403 404 404 200 404 401 401 401 403 403 403',
  'POST /webhook-endpoints/{endpoint_id}/deliveries/{notice_id}/replay':
    '401 403 403 404 404 - 404 401 401 401 403 403 403',
  'GET /deliveries': '401 403 403 403 403 200 200 401 401 401 403 403 403',
  'GET /access': '401 401 401 401 401 401 401 401 401 401 401 401 401',
  'DELETE /access': '401 401 401 401 401 401 401 401 401 401 401 401 401',
  'GET /queues/{id}/locks': '401 401 401 401 401 401 401 401 401 401 401 401 401',
  'PUT /queues/{id}/locks/{name}': '401 401 401 401 401 401 401 401 401 401 401 401 401',
  'DELETE /queues/{id}/locks/{name}': '401 401 401 401 401 401 401 401 401 401 401 401 401',
  'GET /.well-known/jwks.json': '200 200 200 200 200 200 200 200 200 200 200 200 200',
  'GET /sandbox/pay/{reference}': '404 404 404 404 404 404 404 404 404 404 404 404 404',
  'POST /sandbox/pay/{reference}': '404 404 404 404 404 404 404 404 404 404 404 404 404',
  'POST /webhooks/sandbox': '401 401 401 401 401 401 401 401 401 401 401 401 401',
  'POST /webhooks/paystack': '404 404 404 404 404 404 404 404 404 404 404 404 404',
  'POST /webhooks/stripe': '404 404 404 404 404 404 404 404 404 404 404 404 404',
  'GET /livez': '200 200 200 200 200 200 200 200 200 200 200 200 200',
  'GET /readyz': '200 200 200 200 200 200 200 200 200 200 200 200 200',
  'GET /health': '200 200 200 200 200 200 200 200 200 200 200 200 200',
  'GET /': '200 200 200 200 200 200 200 200 200 200 200 200 200',
  'GET /events/{id}/calendar.ics': '200 200 200 200 200 200 200 200 200 200 200 200 200',
  'GET /favicon.ico': '200 200 200 200 200 200 200 200 200 200 200 200 200',
  'GET /robots.txt': '200 200 200 200 200 200 200 200 200 200 200 200 200',
  'GET /openapi.json': '200 200 200 200 200 200 200 200 200 200 200 200 200',
  'GET /docs': '200 200 200 200 200 200 200 200 200 200 200 200 200',
  'GET /console': '200 200 200 200 200 200 200 200 200 200 200 200 200',
  'GET /demo/mail': '404 404 404 404 404 404 404 404 404 404 404 404 404',
  'GET /assets/{name}': '404 404 404 404 404 404 404 404 404 404 404 404 404',
  'GET /sdk/{name}': '200 200 200 200 200 200 200 200 200 200 200 200 200',
  'GET /fairness/{id}': '200 200 200 200 200 200 200 200 200 200 200 200 200',
  'GET /wait/{id}': '200 200 200 200 200 200 200 200 200 200 200 200 200',
  'POST /wait/{id}': '400 400 400 400 400 400 400 400 400 400 400 400 400',
  'GET /wait/{id}/device': '303 303 303 303 303 303 303 303 303 303 303 303 303',
  'GET /wait/{id}/proof': '303 200 404 303 303 303 303 303 303 303 303 303 404',
  'GET /wait/worker.js': '200 200 200 200 200 200 200 200 200 200 200 200 200',
  'GET /scan': '200 200 200 200 200 200 200 200 200 200 200 200 200',
  'GET /scan/worker.js': '200 200 200 200 200 200 200 200 200 200 200 200 200',
  'GET /shop': '200 200 200 200 200 200 200 200 200 200 200 200 200',
  'POST /shop': '400 - 400 400 400 400 400 400 400 400 400 400 400',
  'GET /shop/events/{id}': '303 200 200 303 303 303 303 303 303 303 303 303 200',
  'POST /shop/events/{id}': '400 - 400 400 400 400 400 400 400 400 400 400 400',
  'GET /shop/events/{id}/return': '303 303 303 303 303 303 303 303 303 303 303 303 303',
  'GET /shop/orders': '303 200 200 303 303 303 303 303 303 303 303 303 303',
  'GET /shop/orders/{id}': '303 200 404 303 303 303 303 303 303 303 303 303 404',
  'POST /shop/orders/{id}': '303 - 404 303 303 303 303 303 303 303 303 303 404',
  'GET /my/tickets': '200 200 200 200 200 200 200 200 200 200 200 200 200',
  'POST /my/tickets': '400 400 400 400 400 400 400 400 400 400 400 400 400',
  'POST /my/tickets/{id}': '303 - 404 303 303 303 303 303 303 303 303 303 303',
  'GET /my/tickets/{id}.pdf': '303 200 404 303 303 303 303 303 303 303 303 303 303',
  'GET /my/orders/{id}.pdf': '303 200 404 303 303 303 303 303 303 303 303 303 303',
  'GET /my/orders/{id}/{secret}': '404 404 404 404 404 404 404 404 404 404 404 404 404',
  'GET /my/orders/{id}/{secret}.pdf': '404 404 404 404 404 404 404 404 404 404 404 404 404',
  'POST /my/transfers/{id}': '303 - 404 303 303 303 303 303 303 303 303 303 303',
  'GET /my/worker.js': '200 200 200 200 200 200 200 200 200 200 200 200 200',
};

const uuid = () => crypto.randomUUID();

/** The path with ids of the rightful owners' objects. */
function path_of(pattern, ids) {
  const of_folder = {
    'events': ids.event,
    'queue': ids.event,
    'wait': ids.event,
    'fairness': ids.event,
    'claims': ids.claim,
    'payments': ids.payment,
    'orders': pattern.endsWith('.pdf') ? ids.complete_order : ids.order,
    'event-tickets': ids.event_ticket,
    'promo-codes': ids.code,
    'queues': ids.queue,
    'tickets': pattern.startsWith('/my') ? ids.event_ticket : ids.place,
    'transfers': ids.transfer,
    'devices': pattern.startsWith('/tickets') ? ids.ticket_device : ids.device,
    'webhook-endpoints': ids.endpoint,
    'seat-plans': ids.plan,
    'blocked-customers': ids.customer,
    'locks': 'A-1',
    'assets': 'x',
    'sdk': 'fairqueue.mjs',
    'pay': 'nothing',
  };
  const parts = pattern.split('/');
  return parts.map((part, i) => part.replace(/^\{.*\}/, () => of_folder[parts[i - 1]] ?? uuid())).join('/');
}

const form_actions = { answerOffer: 'withdraw' };

/** A body that the rightful owner could send, from the description's example. */
function body_of(operation, ids) {
  const content = operation.requestBody?.content ?? {};
  if (content['application/x-www-form-urlencoded'] && !content['application/json'])
    return { form: `action=${form_actions[operation.operationId] ?? 'cancel'}&email=a@example.com` };
  const media = content['application/json'];
  if (!media) return {};
  const example = media.example ?? Object.values(media.examples ?? {})[0]?.value ?? {};
  const text = JSON.stringify(example).replace(
    /"(event_id|ticket_type_id|order_id|payment_id|customer_id)":"[^"]*"/g,
    (_, name) => `"${name}":"${ids[name.replace('ticket_type_id', 'type').replace('_id', '')] ?? uuid()}"`,
  );
  return { body: JSON.parse(text) };
}

async function answer_of(server, method, path, operation, ids, identity, token) {
  const { form, body } = body_of(operation, ids);
  const headers = { 'Idempotency-Key': uuid() };
  if (/^\/(shop|wait|my)/.test(path))
    headers.Cookie = token ? `fairqueue_customer=${token}; fairqueue_place=${token}` : '';
  if (form) {
    headers['Content-Type'] = 'application/x-www-form-urlencoded';
    headers.Origin = server.url;
  }
  const [type] = Object.keys(operation.requestBody?.content ?? {});
  if (type?.startsWith('image/')) headers['Content-Type'] = type;
  const answer = await server.request(method, path, {
    token,
    headers,
    body: form ?? body ?? (type && 'neither JSON nor a form'),
    unchecked: true,
  });
  assert.ok(answer.status < 500 || answer.status === 503, `${method} ${path} ${identity}: ${answer.text}`);
  return answer;
}

/** Who may read the private ids. */
const readers = {
  order: ['fan', 'org'],
  event_ticket: ['fan', 'org'],
  transfer: ['fan'],
  claim: ['fan', 'org'],
  payment: ['fan', 'org'],
  code: ['org'],
  plan: ['org'],
  customer: ['org'],
  device: ['fan'],
  queue: ['oper', 'ticket'],
  endpoint: ['oper'],
  place: ['oper', 'ticket'],
  ticket_device: ['oper', 'ticket'],
};

/** A list must not show another's objects. A public log shows its line to all. */
function check_content(row, identity, answer, ids) {
  if (/\/log\//.test(row)) return;
  for (const [name, who] of Object.entries(readers))
    if (answer.status === 200 && !who.includes(identity))
      assert.ok(!answer.text.includes(ids[name]), `${row} shows ${identity} a foreign ${name}`);
}

test('every route answers every identity as its row says', async (t) => {
  const server = await server_for(t, { settings });
  const { ids, tokens } = await populate(server);
  const receipt = () => server.get(`/tickets/${ids.place}/receipt`, { token: tokens.ticket });
  await eventually('the place is in the log', async () => (await receipt()).status === 200);
  const described = (await server.get('/openapi.json')).json.paths;
  const routes = Object.entries(described).flatMap(([pattern, operations]) =>
    Object.entries(operations)
      .filter(([method]) => method !== 'parameters')
      .map(([method, operation]) => ({
        row: `${method.toUpperCase()} ${pattern}`,
        method,
        pattern,
        operation,
      })),
  );
  const seen = {};
  for (const { row, method, pattern, operation } of routes) {
    const wanted = expected[row]?.split(' ') ?? [];
    seen[row] = [];
    for (const [i, identity] of identities.entries()) {
      if (wanted[i] === '-') {
        seen[row].push('-');
        continue;
      }
      const path = path_of(pattern, ids);
      const answer = await answer_of(
        server,
        method.toUpperCase(),
        path,
        operation,
        ids,
        identity,
        tokens[identity],
      );
      check_content(row, identity, answer, ids);
      seen[row].push(String(answer.status));
    }
  }
  for (const [row, statuses] of Object.entries(seen)) seen[row] = statuses.join(' ');
  if (process.env.FAIRQUEUE_SHOW) console.log(JSON.stringify(seen, null, 2));
  for (const row of Object.keys(expected)) assert.ok(seen[row] !== undefined, `no route has the row ${row}`);
  for (const [row, statuses] of Object.entries(seen)) {
    assert.ok(expected[row], `${row} has no expectation; seen: ${statuses}`);
    assert.equal(statuses, expected[row], `${row} of ${identities.join(' ')}`);
  }
});

test('every page has the header fields that protect it in a browser', async (t) => {
  const server = await server_for(t, { settings });
  const { ids, tokens } = await populate(server);
  const described = (await server.get('/openapi.json')).json.paths;
  const pages = Object.keys(described).filter(
    (pattern) => described[pattern].get?.responses['200']?.content?.['text/html'],
  );
  assert.ok(pages.length >= 12, `${pages}`);
  for (const pattern of pages) {
    const path = pattern
      .replace('/wait/{id}', `/wait/${ids.queue}`)
      .replace('/fairness/{id}', `/fairness/${ids.queue}`)
      .replace('/shop/orders/{id}', `/shop/orders/${ids.order}`)
      .replace('{id}', ids.event)
      .replace('{reference}', ids.reference);
    const headers = {
      Accept: 'text/html',
      Cookie: `fairqueue_customer=${tokens.fan}; fairqueue_place=${tokens.ticket}`,
    };
    const page = await server.get(path, { headers, unchecked: true });
    // Only a demo has the mailbox, only a demo's first page is not a redirect, and only a mail has the secret
    // of a link. An error is a page too.
    const wanted = { '/': 303, '/demo/mail': 404, '/my/orders/{id}/{secret}': 404 }[pattern] ?? 200;
    assert.equal(page.status, wanted, `${path}: ${page.text}`);
    if (wanted !== 303) assert.match(page.headers['content-type'], /^text\/html/, path);
    check_browser_fields(page, path);
  }
});
