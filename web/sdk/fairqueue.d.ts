// SPDX-License-Identifier: Apache-2.0
// Types of the browser SDK, checked against its use by web/sdk/types.check.ts.

export type Status =
  'WAITING' | 'AWAY' | 'ADMITTED' | 'EXPIRED' | 'CANCELLED' | 'COMPLETED' | 'SESSION_EXPIRED' | 'REVOKED';

/** How likely a place gets a ticket, from what the sale has seen. */
export interface Outlook {
  readonly ticketsFree: number;
  /** In open purchases: they may come back. */
  readonly ticketsHeld: number;
  readonly peopleAhead: number;
  /** Of the people admitted, so many buy (95 % confidence); null: too few have decided. */
  readonly buyingPercent: { readonly low: number; readonly high: number } | null;
  /** Expected, of those ahead; null as before. */
  readonly buyersAhead: number | null;
  readonly ticketsAhead: number | null;
  /** Chance that a ticket is left at the place's turn; null: not known. */
  readonly chancePercent: { readonly low: number; readonly high: number } | null;
  readonly chance:
    | 'unknown'
    | 'very_unlikely'
    | 'unlikely'
    | 'less_likely'
    | 'even'
    | 'likely'
    | 'very_likely'
    | 'almost_certain';
}

/** One place in a line. */
export interface Place {
  readonly id: string;
  /** The event's or queue's id. */
  readonly line: string;
  readonly status: Status;
  /** Never changes. Lower numbers are served first, but for those of a lobby with a draw. */
  readonly number: number;
  /** From 1; null unless waiting, and in a lobby. */
  readonly position: number | null;
  readonly ahead: number | null;
  /** Range in seconds; null: no estimate yet. */
  readonly eta: { readonly low: number; readonly high: number } | null;
  /** In a lobby, and until its draw. WAITS_FOR_BEACON: the draw waits for a public value. */
  readonly lobby: {
    readonly status: 'OPEN' | 'CLOSED' | 'WAITS_FOR_BEACON';
    readonly draw: 'none' | 'at_opening';
    readonly people: number;
    readonly opensAt: string;
  } | null;
  /** In a lobby, of members: `code` lets others join. */
  readonly party: { readonly code: string; readonly members: number } | null;
  /** Null: not told, as of queues and of places that may buy hidden tickets. */
  readonly outlook: Outlook | null;
  /** The event is sold out, and tickets that come back go to the first in line. */
  readonly waitingList: boolean;
  /** The operator's message to all in line. */
  readonly message: string | null;
  /** While ADMITTED: the admission token (events) or session token (queues). */
  readonly token: string | null;
  /** Queues, while ADMITTED: an ES256 pass that a backend can check offline. */
  readonly pass: string | null;
  readonly sessionExpiresAt: string | null;
  /** Events: the session ends then unless tickets were claimed. */
  readonly claimBy: string | null;
  readonly soldOut: boolean;
  readonly paused: boolean;
  readonly ended: boolean;
}

/** live: by WebSocket. polling: at the server's pace. offline: the server cannot be reached. closed: not following. */
export type Connection = 'live' | 'polling' | 'offline' | 'closed';

/** A captcha that the event or queue asks for before it gives a place. */
export interface Captcha {
  readonly type: 'turnstile' | 'hcaptcha';
  readonly site_key: string;
  /** For the widget of Turnstile: `action`, and `bound_to` as its `cData`. */
  readonly action: 'join';
  readonly bound_to: string;
}

export interface Options {
  /** Base address of the FairQueue server. */
  server: string;
  /** A standalone queue's id. */
  queue?: string;
  /** A publishable API key (scope join) of the queue's tenant. */
  key?: string;
  /** Names the visitor: a JWT that the tenant signed. Without it the place belongs to this browser. */
  subjectToken?: string;
  /** Or an event's id ... */
  event?: string;
  /** ... with its customer's token, or a guest's (POST /guests). */
  token?: string;
  /** Shows a captcha to the visitor and resolves to its response; proof of work needs nothing. */
  solve?: (challenge: Captcha) => Promise<string>;
  /** True: no WebSocket. */
  polling?: boolean;
  storage?: Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>;
  fetch?: typeof fetch;
  WebSocket?: typeof WebSocket;
}

export interface EndDetail {
  readonly why:
    'left' | 'gone' | 'unauthorized' | 'expired' | 'cancelled' | 'completed' | 'session_expired' | 'revoked';
  readonly place: Place | null;
}

export interface Events {
  change: CustomEvent<Place>;
  admitted: CustomEvent<Place>;
  end: CustomEvent<EndDetail>;
  connection: CustomEvent<Connection>;
  /** Every frame of the WebSocket, unchanged; `order` frames are for sellers. */
  frame: CustomEvent<{ readonly type: string; readonly [member: string]: unknown }>;
}

/** A refusal by the server: `code` is the stable code of its problem answer. */
export interface FairQueueError extends Error {
  readonly name: 'FairQueueError';
  readonly status: number;
  readonly code: string;
}

/** Bodies and answers of orders are those of the API: docs/openapi.yaml. Amounts are in minor units. */
export interface Item {
  ticket_type_id: string;
  quantity?: number;
  /** Names of reserved seats. Without them: the best ones, if the type has seats. */
  seats?: string[];
  donation?: number;
}

export interface Quote {
  readonly event_id: string;
  readonly promo_code: string | null;
  readonly items: readonly {
    readonly ticket_type_id: string;
    readonly quantity: number;
    readonly unit_price: number;
    readonly unit_discount: number;
    readonly donation: number;
  }[];
  readonly subtotal: number;
  readonly discount: number;
  readonly donations: number;
  readonly platform_fee: number;
  readonly processing_fee: number;
  readonly total: number;
  readonly currency: string;
}

/** To a question of the event (`questions` of GET /events/{id}). */
export interface Answer {
  question_id: number;
  /** Of a question to attendees: from 1, in the order of the items and their units. */
  attendee?: number;
  /** The text, the choice, or "yes" for a consent. */
  value: string;
}

export interface CheckoutWish {
  contact: { first_name: string; last_name: string; email: string; phone?: string };
  /** Needed if a question is required: see Answer. */
  answers?: Answer[];
  /** Default: one ticket of the first type on sale. */
  items?: Item[];
  /** So many seats side by side, chosen by the server, instead of items; see BestSeats. */
  best?: number;
  section?: string;
  ticket_type_id?: string;
  promo_code?: string;
  /**
   * Named seats may have so many accessible ones, with companions' seats; a single item without names gets so
   * many. With several items refused as `seat_accessible_unclear`, unless a named seat is accessible.
   */
  accessible?: number;
  success_url?: string;
  cancel_url?: string;
  gateway?: string;
}

/** `processing`: placed, its payment page does not exist yet. Only then members but these four are missing. */
export interface OrderStatus {
  readonly order_id: string;
  readonly status:
    | 'processing'
    | 'pending'
    | 'awaiting_payment'
    | 'success'
    | 'failed'
    | 'cancelled'
    | 'partially_refunded'
    | 'refunded';
  readonly message: string;
  readonly poll_after_ms: number;
  readonly event_id?: string;
  /** Where to pay; null: not yet, or no longer. */
  readonly payment_url?: string | null;
  readonly payments_url?: string | null;
  readonly expires_at?: string | null;
  readonly failure?: string | null;
  readonly can_retry?: boolean;
  readonly redirect_url?: string | null;
  readonly estimated_wait_seconds?: number | null;
}

export interface Lock {
  name: string;
  ticket_id: string;
  locked_at: string;
  /** End of the session. */
  locked_until: string;
}

export type EventTicketStatus = 'ISSUED' | 'CHECKED_IN' | 'CHECKED_OUT' | 'TRANSFERRED' | 'CANCELLED';

export interface EventTicketPage {
  readonly items: readonly {
    readonly id: string;
    readonly event_id: string;
    readonly event_name: string;
    /** Tickets of a CANCELLED event are of no use. */
    readonly event_status: 'DRAFT' | 'ACTIVE' | 'PAUSED' | 'ENDED' | 'CANCELLED';
    readonly ticket_type_id: string;
    readonly ticket_type_name: string;
    readonly status: EventTicketStatus;
  }[];
  readonly next_cursor: string | null;
}

/** To its holder. One of the codes is null; of a cancelled ticket both are. */
export interface EventTicket {
  readonly id: string;
  readonly event_id: string;
  readonly ticket_type_id: string;
  readonly status: EventTicketStatus;
  readonly refund_pending: boolean;
  /** Whose answers of the order belong to it. */
  readonly attendee: number | null;
  readonly code: string | null;
  /** `secret`: base64url. */
  readonly rotating_code: {
    readonly secret: string;
    readonly generation: number;
    readonly step_seconds: number;
  } | null;
}

export interface Transfer {
  readonly transfer_id: string;
  readonly event_ticket_id: string;
  readonly status: 'OFFERED' | 'ACCEPTED' | 'DECLINED' | 'WITHDRAWN' | 'EXPIRED';
  readonly created_at: string;
  readonly expires_at: string;
  readonly ended_at: string | null;
}

export interface OpenTransfer {
  readonly transfer_id: string;
  /** null: received, and not accepted yet. */
  readonly event_ticket_id: string | null;
  readonly event_id: string;
  readonly event_name: string;
  readonly ticket_type_name: string;
  readonly side: 'given' | 'received';
  /** Of the other side. */
  readonly email: string;
  readonly created_at: string;
  readonly expires_at: string;
}

/** Of which seats the best ones are. */
export interface BestSeats {
  section?: string;
  ticket_type_id?: string;
  accessible?: number;
  promo_code?: string;
}

export interface Seat {
  /** In the plan, from 0. */
  readonly number: number;
  /** For checkout: "P-A-3". */
  readonly name: string;
  /** For people; may be empty. */
  readonly section: string;
  readonly row: string;
  readonly seat: string;
  readonly x: number;
  readonly y: number;
  /** Shoppers see a blocked seat as sold. */
  readonly state: 'free' | 'held' | 'sold' | 'blocked';
  readonly ticket_type_id: string;
  readonly accessible?: boolean;
  readonly companion?: boolean;
  readonly obstructed?: boolean;
}

/** A standing area: a number of its ticket type, in `items` of checkout. */
export interface StandingArea {
  /** Its code. */
  readonly area: string;
  readonly name: string;
  readonly places: number;
  /** Areas of one ticket type share their free places. */
  readonly free: number;
  readonly ticket_type_id: string;
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

export class SeatMap extends EventTarget {
  /** As GET /events/{id}/seat-plan has it. */
  readonly plan: { readonly [member: string]: unknown };
  /** As many as seats. */
  readonly seats: readonly unknown[];
  /** The seat as it is now. */
  seat(number: number): Seat;
  /** The standing area as it is now, by its place in the plan. */
  area(index: number): StandingArea;
  /** Reads what has changed, for example after a refusal. */
  refresh(): Promise<void>;
  close(): void;
  /** Numbers of the seats that have changed. */
  addEventListener(
    type: 'change',
    listener: (event: CustomEvent<readonly number[]>) => void,
    options?: boolean | AddEventListenerOptions,
  ): void;
  addEventListener(
    type: string,
    listener: EventListenerOrEventListenerObject | null,
    options?: boolean | AddEventListenerOptions,
  ): void;
}

export class FairQueue extends EventTarget {
  constructor(options: Options);
  readonly place: Place | null;
  readonly connection: Connection;
  /**
   * Joins, or finds the visitor's place, and follows it. `accessCode` opens hidden ticket types of an event;
   * with `partyCode` a new place joins a party of the lobby. Rejects with FairQueueError.
   */
  join(options?: { accessCode?: string; partyCode?: string }): Promise<Place | null>;
  /** Follows the visitor's place; null: none. */
  resume(): Promise<Place | null>;
  /** Gives the place up, in all tabs. */
  leave(): Promise<void>;
  /** The proof of the place in the public log (tlog-proof), as a text to keep. */
  receipt(): Promise<string>;
  /** In a lobby with a draw: opens a party, or joins the one with this code. */
  party(code?: string): Promise<Place>;
  /** Stops following; the place is kept. */
  close(): void;
  /** Events: the price of an order. Holds nothing. */
  quote(wish?: Omit<CheckoutWish, 'contact'>): Promise<Quote>;
  /** Price of the best `count` seats side by side. Holds nothing. */
  quoteBest(count: number, wish?: BestSeats): Promise<Quote>;
  /** As checkout, of the best `count` seats side by side. */
  checkoutBest(count: number, wish: CheckoutWish & BestSeats): Promise<OrderStatus>;
  /** Events with a seat plan: plan and map, followed until close(). */
  seats(): Promise<SeatMap>;
  /**
   * Events: places an order with the admission of this place, and holds its tickets. After a lost answer the same call
   * finds the same order.
   */
  checkout(wish: CheckoutWish): Promise<OrderStatus>;
  order(id: string): Promise<OrderStatus>;
  /** The status now and after each change, until the order is over. Rejects with FairQueueError if it is not found. */
  orderChanges(id: string, options?: { signal?: AbortSignal }): AsyncGenerator<OrderStatus, void>;
  /** Queues: locks a name, for example of a seat, until the session ends. Rejects with code `lock_held`. */
  lock(name: string): Promise<Lock>;
  unlock(name: string): Promise<void>;
  locks(): Promise<Lock[]>;
  /** The customer's event tickets at all events. */
  eventTickets(options?: { cursor?: string }): Promise<EventTicketPage>;
  eventTicket(id: string): Promise<EventTicket>;
  /** Offers an event ticket to a person, who gets a mail and accepts. */
  transfer(id: string, email: string): Promise<Transfer>;
  transfers(): Promise<{ readonly items: readonly OpenTransfer[] }>;
  /** The receiver accepts or declines, the giver withdraws. */
  answerTransfer(id: string, how: 'accept' | 'decline' | 'withdraw'): Promise<Transfer>;
  /** "#fairqueue=…" for another device's address. Its holder has the place. Empty without a place. */
  handoff(): string;
  addEventListener<K extends keyof Events>(
    type: K,
    listener: (event: Events[K]) => void,
    options?: boolean | AddEventListenerOptions,
  ): void;
  addEventListener(
    type: string,
    listener: EventListenerOrEventListenerObject | null,
    options?: boolean | AddEventListenerOptions,
  ): void;
}

/** Milliseconds before reconnection number `attempt` (from 0): full jitter, at most 30 s. */
export function reconnect_delay(attempt: number, random?: () => number): number;
export function retry_after_ms(response: Response): number | undefined;
export function place_of(answer: Record<string, unknown>, known?: Partial<Place>): Place;
export function place_after(
  place: Place | null,
  frame: { type: string; [member: string]: unknown },
): Place | null;
