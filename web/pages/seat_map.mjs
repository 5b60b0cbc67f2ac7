// SPDX-License-Identifier: Apache-2.0
// The shop's seats: a map whose sections are drawn when a visitor zooms into them, and a list as equal
// alternative. Chosen seats go into the form's fields s.<ticket type>. Arrow keys are those of the hall, also
// in languages that are written from right to left.
import { SeatMap } from '../sdk/seats.mjs';
import { language, state } from './page.mjs';

const pitch = 24; // units between neighbours, as in domain/seats/drawing
const margin = 2 * pitch;
/** Pixels between neighbours: a finger hits a seat. */
const pitch_px_min = 28;
const zoom_step = 1.4;
const zoom_max = 6;
/** Of a small hall that would fit into less than the frame. */
const scale_max = 1.6;
/** Plans with more seats begin with their sections. */
const drawn_at_once_max = 600;
const comma = language === 'ar' ? '، ' : ', ';

const text = (key, values = {}) =>
  Object.entries(values).reduce(
    (said, [name, value]) => said.replaceAll(`{${name}}`, value),
    state.texts[key].other,
  );

function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

function svg(name, attributes = {}, ...children) {
  const made = document.createElementNS('http://www.w3.org/2000/svg', name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

const place_text = ({ section, row, seat }) =>
  text(!row ? 'seat_place_table' : section ? 'seat_place' : 'seat_place_row', { section, row, seat });

/** Distance between neighbours in a row: one tenth of all pairs are nearer. */
function usual_distance(seats) {
  const all = [];
  for (let i = 1; i < seats.length; ++i) {
    const [a, b] = [seats[i - 1], seats[i]];
    if (a.section === b.section && a.row === b.row && !b.aisle) all.push(Math.hypot(a.x - b.x, a.y - b.y));
  }
  all.sort((a, b) => a - b);
  return all[Math.floor(all.length / 10)] || 50;
}

const pattern_lines = [
  '',
  'M-2 2L2-2M0 8L8 0M6 10L10 6',
  'M2 2h1v1h-1zM6 6h1v1h-1z',
  'M0 2h8M0 6h8',
  'M0 4h8M4 0v8',
  'M2 0v8M6 0v8',
];

const colours = 6; // in pages.css
/** Colours with lines: from the seventh ticket type on a colour comes back with other lines. */
const looks = colours * pattern_lines.length;

/** Colours and lines of the price classes, for map and legend. */
const pattern_defs = (types) =>
  svg(
    'svg',
    { 'class': 'quiet', 'aria-hidden': 'true', 'width': 0, 'height': 0 },
    svg(
      'defs',
      {},
      ...Array.from({ length: Math.min(types, looks) }, (_, i) => {
        const lines = pattern_lines[(i + Math.floor(i / colours)) % pattern_lines.length];
        return svg(
          'pattern',
          { id: `price-${i}`, width: 8, height: 8, patternUnits: 'userSpaceOnUse' },
          svg('rect', { class: `price-${i % colours}`, width: 8, height: 8 }),
          svg('path', { class: 'price-lines', d: lines }),
        );
      }),
    ),
  );

const marks = { chosen: 'M-5 0l4 4 6-8', held: 'M-5 0h10', sold: 'M-4-4l8 8M4-4l-8 8' };

class SeatPicker {
  #root;
  #form;
  #map;
  #types; // by id
  #chosen = new Set();
  #drawn = new Map(); // number: its element in the map
  #boxes = new Map(); // number: its checkbox in the list
  #areas = new Map(); // index of a standing area: its elements in map and list
  #section = null; // drawn; null: the whole hall
  #scale = 1;
  #size = { width: 0, height: 0 };
  #unit = 1;
  #current = null; // seat that Tab reaches
  #was_for_all; // accessible seats, as shown

  constructor(root, form, map) {
    this.#root = root;
    this.#form = form;
    this.#map = map;
    const { type_ids, plan_types } = map.known;
    const in_plan = new Set(plan_types.map((type) => type_ids[type]));
    // A type without a field was sold out when the page was made: the form could not take its seats.
    this.#types = new Map(
      state.types
        .filter(({ id }) => in_plan.has(id))
        .map((type, index) => {
          const on_sale = type.on_sale && form.elements[`s.${type.id}`] !== undefined;
          return [type.id, { ...type, on_sale, fill: `url(#price-${index % looks})` }];
        }),
    );
    this.#was_for_all = map.known.accessible_for_all;
    this.#unit = usual_distance(map.seats) / pitch;
    this.#restore();
    this.#show_legend();
    this.#listen();
    root.hidden = false; // before the drawing, which asks for the frame's width
    this.#draw();
  }

  #find(name) {
    return this.#root.querySelector(`[data-${name}]`);
  }

  // -- what may be chosen

  #type_of(seat) {
    return this.#types.get(seat.ticket_type_id);
  }

  #may_take_accessible() {
    return this.#map.known.accessible_for_all || this.#form.elements.accessible.checked;
  }

  /** 'chosen', or what #offer says. */
  #look(number, seat = this.#map.seat(number)) {
    return this.#chosen.has(number) ? 'chosen' : this.#offer(number, seat);
  }

  /** 'free', 'kept', 'not_sold', 'held' or 'sold'. */
  #offer(number, seat = this.#map.seat(number)) {
    if (seat.state === 'held') return 'held';
    if (seat.state !== 'free') return 'sold';
    if (!this.#type_of(seat)?.on_sale) return 'not_sold';
    return (seat.accessible || seat.companion) && !this.#may_take_accessible() ? 'kept' : 'free';
  }

  #label(number) {
    const seat = this.#map.seat(number);
    const traits = ['accessible', 'companion', 'obstructed'].filter((name) => seat[name]);
    return [
      place_text(seat),
      this.#type_of(seat)?.name,
      this.#type_of(seat)?.price,
      ...traits.map((name) => text(`seat_${name}`)),
      text(`seat_${this.#look(number, seat)}`),
    ]
      .filter(Boolean)
      .join(comma);
  }

  #toggle(number) {
    const seat = this.#map.seat(number);
    const look = this.#look(number, seat);
    this.#show(number); // the browser has ticked the list's checkbox already
    if (look === 'chosen') this.#chosen.delete(number);
    else if (look !== 'free') return this.#announce(this.#label(number));
    else if (this.#of_type(seat.ticket_type_id).length >= this.#type_of(seat).most)
      return this.#announce(text('limit_exceeded'));
    else this.#chosen.add(number);
    this.#show(number);
    this.#fill_form();
  }

  #of_type(id) {
    return [...this.#chosen].filter((n) => this.#map.seat(n).ticket_type_id === id);
  }

  // -- the form

  /** What the server sent back with a problem. */
  #restore() {
    const by_name = new Map(this.#map.seats.map((seat) => [seat.name, seat.number]));
    for (const field of this.#form.querySelectorAll('input[name^="s."]'))
      for (const name of field.value.split(' ').filter(Boolean)) {
        const number = by_name.get(name);
        if (number !== undefined && this.#look(number) === 'free') this.#chosen.add(number);
      }
    this.#fill_form();
  }

  /** A type has seats or a number of the best ones, not both. */
  #fill_form() {
    for (const field of this.#form.querySelectorAll('input[name^="s."]')) {
      const id = field.name.slice(2);
      const names = this.#of_type(id).map((n) => this.#map.seats[n].name);
      field.value = names.join(' ');
      const number = this.#form.elements[`t.${id}`];
      if (number) number.disabled = names.length > 0;
    }
    this.#tell();
    this.#form.dispatchEvent(new Event('input', { bubbles: true }));
  }

  #tell() {
    const standing = new Map();
    for (const [index] of this.#standing_areas()) {
      const { id, name, chosen } = this.#standing(index);
      if (chosen > 0) standing.set(id, `${name} × ${chosen}`);
    }
    const places = [...this.#chosen].map((n) => place_text(this.#map.seat(n)));
    const seats = [...places, ...standing.values()].join('; ');
    this.#find('chosen').textContent = seats ? text('seats_chosen', { seats }) : text('seats_none');
  }

  // -- standing areas: a number of their ticket type, which the form's own field has

  #standing_areas() {
    return (this.#map.plan.areas ?? []).entries();
  }

  /** `most`: places that this visitor may choose now. */
  #standing(index) {
    const area = this.#map.area(index);
    const id = area.ticket_type_id;
    const field = this.#form.elements[`t.${id}`];
    const listed = Number(field?.options[field.options.length - 1].value ?? 0);
    return {
      ...area,
      id,
      field,
      chosen: Number(field?.value ?? 0),
      most: Math.min(listed, area.free),
      listed,
    };
  }

  #area_free({ name, free }) {
    return text('seats_section', { section: name, count: free });
  }

  #area_label(area) {
    return [this.#area_free(area), this.#types.get(area.id)?.price, !area.field && text('seat_not_sold')]
      .filter(Boolean)
      .join(comma);
  }

  #choose_standing(index, number) {
    const { field, most, listed } = this.#standing(index);
    if (!field) return this.#announce(this.#area_label(this.#standing(index)));
    if (number > most) this.#announce(text(number > listed ? 'limit_exceeded' : 'none_free'));
    field.value = Math.max(0, Math.min(number, most));
    field.dispatchEvent(new Event('input', { bubbles: true }));
  }

  /** Standing areas as they are now, on map and list. */
  #show_standing() {
    for (const [index, { drawn, listed }] of this.#areas) {
      const area = this.#standing(index);
      const label = this.#area_label(area);
      if (drawn) {
        drawn.setAttribute('aria-label', label);
        drawn.setAttribute('aria-valuenow', area.chosen);
        drawn.setAttribute('aria-valuemax', Math.max(area.most, area.chosen));
        drawn.setAttribute('aria-disabled', !area.field);
        drawn.querySelector('[data-number]').textContent = area.chosen;
        drawn.querySelector('[data-name]').textContent = this.#area_free(area);
      }
      if (!listed) continue;
      listed.firstElementChild.textContent = label;
      listed.lastElementChild.value = area.chosen;
      listed.lastElementChild.disabled = !area.field;
    }
    this.#tell();
  }

  #draw_area(index) {
    const area = this.#standing(index);
    const { x, y } = this.#at(area);
    const [width, height] = [area.width, area.height].map((cm) =>
      Math.max(Math.round(cm / this.#unit), 4 * pitch),
    );
    const size = Math.max(pitch / 2, Math.min(width / 14, height / 6));
    const middle = { x: x + width / 2, y: y + height / 2 };
    const type = this.#types.get(area.id);
    const words = (name, at, content = '') => {
      const made = svg('text', { ...at, 'font-size': size, 'aria-hidden': 'true', [name]: '' });
      made.textContent = content;
      return made;
    };
    const button = (step, sign) => {
      const at = { x: middle.x + step * 3 * size, y: middle.y + size };
      const circle = svg('circle', { cx: at.x, cy: at.y, r: 1.2 * size });
      return svg('g', { 'data-step': step, 'aria-hidden': 'true' }, circle, words('data-sign', at, sign));
    };
    const drawn = svg(
      'g',
      {
        'class': 'section area',
        'role': 'spinbutton',
        'tabindex': 0,
        'data-area': index,
        'aria-valuemin': 0,
      },
      svg('rect', {
        x,
        y,
        width,
        height,
        rx: 8,
        fill: type?.fill ?? 'none',
      }),
      words('data-name', { x: middle.x, y: middle.y - 1.4 * size }),
      words('data-number', { x: middle.x, y: middle.y + size }),
      ...(area.field ? [button(-1, '−'), button(1, '+')] : []),
    );
    this.#areas.set(index, { ...this.#areas.get(index), drawn });
    return drawn;
  }

  #list_area(index) {
    const { listed: most } = this.#standing(index);
    const field = element(
      'select',
      { 'id': `area-${index}`, 'data-standing': index },
      ...Array.from({ length: most + 1 }, (_, n) => element('option', { value: n }, String(n))),
    );
    const listed = element('div', { class: 'row' }, element('label', { for: field.id }), field);
    this.#areas.set(index, { ...this.#areas.get(index), listed });
    return listed;
  }

  #announce(words) {
    this.#find('said').textContent = words;
  }

  // -- drawing

  #at(seat) {
    return { x: Math.round(seat.x / this.#unit), y: Math.round(seat.y / this.#unit) };
  }

  #begins_with_sections() {
    return this.#map.seats.length > drawn_at_once_max && this.#map.plan.sections.length > 1;
  }

  #draw() {
    const is_overview = this.#section === null && this.#begins_with_sections();
    const shown = this.#map.seats.filter((s) => this.#section === null || s.section === this.#section);
    this.#drawn.clear();
    this.#current = null;
    const areas = this.#section === null ? [...this.#standing_areas()] : [];
    const corners = areas.flatMap(([, { x, y, width, height }]) => [
      { x, y },
      { x: x + width, y: y + height },
    ]);
    const points = [...shown, ...corners].map((place) => this.#at(place));
    const [left, top, right, bottom] = points.reduce(
      ([l, t, r, b], { x, y }) => [Math.min(l, x), Math.min(t, y), Math.max(r, x), Math.max(b, y)],
      [Infinity, Infinity, -Infinity, -Infinity],
    );
    this.#size = { width: right - left + 2 * margin, height: bottom - top + 2 * margin };
    const name = this.#section === null ? text('seats_title') : this.#section_name(this.#section);
    const drawing = svg('svg', {
      'class': 'seat-map',
      'role': 'group',
      'aria-label': name,
      'viewBox': `${left - margin} ${top - margin} ${this.#size.width} ${this.#size.height}`,
    });
    if (is_overview) this.#map.plan.sections.forEach((_, i) => drawing.append(this.#draw_section(i)));
    else this.#draw_rows(drawing, shown);
    this.#areas.clear();
    for (const [index] of areas) drawing.append(this.#draw_area(index));
    this.#show_standing();
    this.#find('frame').replaceChildren(drawing);
    this.#find('whole').hidden = this.#section === null;
    this.#fit(is_overview);
  }

  /** The width of the frame, but seats that a finger hits. */
  #fit(is_overview) {
    const frame = this.#find('frame');
    const fitting = frame.clientWidth / this.#size.width;
    this.#scale = is_overview ? fitting : Math.max(Math.min(fitting, scale_max), pitch_px_min / pitch);
    this.#resize();
    frame.scrollLeft = (frame.scrollWidth - frame.clientWidth) / 2;
  }

  #resize() {
    const drawing = this.#find('frame').firstElementChild;
    drawing.setAttribute('width', Math.round(this.#size.width * this.#scale));
    drawing.setAttribute('height', Math.round(this.#size.height * this.#scale));
  }

  /** Keeps the middle of what is seen. */
  #zoom(by) {
    const frame = this.#find('frame');
    const least = frame.clientWidth / this.#size.width / 2;
    const scale = Math.min(zoom_max, Math.max(least, this.#scale * by));
    const ratio = scale / this.#scale;
    this.#scale = scale;
    const middle = [frame.scrollLeft + frame.clientWidth / 2, frame.scrollTop + frame.clientHeight / 2];
    this.#resize();
    frame.scrollLeft = middle[0] * ratio - frame.clientWidth / 2;
    frame.scrollTop = middle[1] * ratio - frame.clientHeight / 2;
  }

  #section_name(index) {
    const { name, section } = this.#map.plan.sections[index];
    return name || section || text('seats_title');
  }

  #free_in(section) {
    return this.#map.seats.filter((s) => s.section === section && this.#look(s.number) === 'free').length;
  }

  #section_label(index) {
    return text('seats_section', { section: this.#section_name(index), count: this.#free_in(index) });
  }

  #draw_section(index) {
    const seats = this.#map.seats.filter((s) => s.section === index);
    const points = seats.map((seat) => this.#at(seat));
    const xs = points.map(({ x }) => x);
    const ys = points.map(({ y }) => y);
    const [left, top] = [xs, ys].map((all) => all.reduce((a, b) => Math.min(a, b), Infinity));
    const [right, bottom] = [xs, ys].map((all) => all.reduce((a, b) => Math.max(a, b), -Infinity));
    const type = this.#type_of(this.#map.seat(seats[0].number));
    const size = Math.max(pitch, Math.min((right - left) / 8, (bottom - top) / 2));
    const group = svg(
      'g',
      {
        'class': 'section',
        'role': 'button',
        'tabindex': 0,
        'data-section': index,
        'aria-label': this.#section_label(index),
      },
      svg('rect', {
        x: left - pitch / 2,
        y: top - pitch / 2,
        width: right - left + pitch,
        height: bottom - top + pitch,
        rx: 8,
        fill: type?.fill ?? 'none',
      }),
    );
    const title = svg('text', {
      'x': (left + right) / 2,
      'y': (top + bottom) / 2,
      'font-size': size,
      'aria-hidden': 'true',
    });
    title.textContent = this.#section_name(index);
    group.append(title);
    return group;
  }

  #draw_rows(drawing, seats) {
    let group;
    let key;
    for (const seat of seats) {
      if (key !== `${seat.section}/${seat.row}`) {
        key = `${seat.section}/${seat.row}`;
        const row = this.#map.seat(seat.number).row;
        const label = row ? text('seats_row', { row }) : this.#section_name(seat.section);
        group = svg('g', { 'role': 'group', 'aria-label': label });
        const { x, y } = this.#at(seat);
        const words = svg('text', { 'x': x - pitch, y, 'class': 'row-label', 'aria-hidden': 'true' });
        words.textContent = row;
        group.append(words);
        drawing.append(group);
      }
      group.append(this.#draw_seat(seat));
    }
  }

  #draw_seat({ number, ...seat }) {
    const { x, y } = this.#at(seat);
    const drawn = svg(
      'g',
      { 'role': 'checkbox', 'data-seat': number, 'tabindex': -1, 'transform': `translate(${x} ${y})` },
      svg('circle', { r: 10 }),
      svg('path', { class: 'mark' }),
    );
    if (seat.accessible) {
      const sign = svg('text', { 'class': 'sign', 'aria-hidden': 'true' });
      sign.textContent = '♿︎';
      drawn.append(sign);
    }
    this.#drawn.set(number, drawn);
    if (this.#current === null) {
      this.#current = number;
      drawn.setAttribute('tabindex', 0);
    }
    this.#show(number);
    return drawn;
  }

  /** The seat as it is now, on map and list. */
  #show(number) {
    const look = this.#look(number);
    const drawn = this.#drawn.get(number);
    if (drawn) {
      const type = this.#type_of(this.#map.seat(number));
      drawn.setAttribute('class', `seat is-${look}`);
      drawn.setAttribute('aria-checked', look === 'chosen');
      drawn.setAttribute('aria-disabled', look !== 'chosen' && look !== 'free');
      drawn.setAttribute('aria-label', this.#label(number));
      const is_priced = (look === 'free' || look === 'kept') && type;
      drawn.firstElementChild.setAttribute('fill', is_priced ? type.fill : '');
      drawn.querySelector('.mark').setAttribute('d', marks[look === 'not_sold' ? 'sold' : look] ?? '');
    }
    const box = this.#boxes.get(number);
    if (!box) return;
    box.checked = look === 'chosen';
    box.disabled = look !== 'chosen' && look !== 'free';
    box.nextElementSibling.textContent = this.#label(number);
  }

  #show_legend() {
    const swatch = (fill, look) =>
      svg(
        'svg',
        { 'class': `swatch seat is-${look}`, 'viewBox': '-12 -12 24 24', 'aria-hidden': 'true' },
        svg('circle', { r: 10, fill }),
        svg('path', { class: 'mark', d: marks[look] ?? '' }),
      );
    const item = (picture, words) => element('li', {}, picture, element('bdi', {}, words));
    this.#root.append(pattern_defs(this.#types.size));
    this.#find('legend').replaceChildren(
      ...[...this.#types.values()].map(({ fill, name, price }) =>
        item(swatch(fill, 'free'), `${name} · ${price}`),
      ),
      ...['chosen', 'held', 'sold'].map((look) => item(swatch('', look), text(`seat_${look}`))),
    );
  }

  // -- the list

  #show_list() {
    this.#boxes.clear();
    this.#areas.clear();
    this.#find('list').replaceChildren(
      ...[...this.#standing_areas()].map(([index]) => this.#list_area(index)),
      ...this.#map.plan.sections.map((_, index) => {
        const summary = element('summary', { class: 'tap' }, this.#section_label(index));
        const details = element('details', { 'data-section': index }, summary);
        // Drawn when opened: a hall may have 50,000 seats.
        details.addEventListener('toggle', () => this.#fill_section(details, index), { once: true });
        return details;
      }),
    );
    this.#show_standing();
  }

  #fill_section(details, index) {
    const rows = Map.groupBy
      ? Map.groupBy(
          this.#map.seats.filter((s) => s.section === index),
          (s) => s.row,
        )
      : this.#map.seats
          .filter((s) => s.section === index)
          .reduce((all, s) => all.set(s.row, [...(all.get(s.row) ?? []), s]), new Map());
    for (const seats of rows.values()) {
      const { row } = this.#map.seat(seats[0].number);
      const legend = element('legend', {}, row ? text('seats_row', { row }) : this.#section_name(index));
      const fields = element('fieldset', { class: 'seat-row' }, legend);
      for (const { number } of seats) {
        const box = element('input', { 'type': 'checkbox', 'data-seat': number });
        this.#boxes.set(number, box);
        fields.append(element('label', { class: 'check' }, box, element('span')));
        this.#show(number);
      }
      details.append(fields);
    }
  }

  #choose_view(view) {
    for (const button of this.#root.querySelectorAll('[data-view]'))
      button.setAttribute('aria-pressed', String(button.dataset.view === view));
    this.#find('map').hidden = view !== 'map';
    this.#find('list').hidden = view !== 'list';
    if (view === 'list') this.#show_list();
    else this.#draw();
  }

  // -- what a visitor does

  #listen() {
    const root = this.#root;
    root.addEventListener('click', ({ target }) => this.#click(target));
    root.addEventListener('change', ({ target }) => {
      if (target.dataset.seat) this.#toggle(Number(target.dataset.seat));
    });
    this.#form.addEventListener('input', ({ target }) => {
      const { standing } = target.dataset;
      if (standing) this.#choose_standing(Number(standing), Number(target.value));
      else this.#show_standing();
    });
    this.#form.elements.accessible.addEventListener('change', () => this.#accessible_changed());
    const frame = this.#find('frame');
    frame.addEventListener('keydown', (event) => this.#key(event));
    frame.addEventListener('touchstart', (event) => this.#pinch(event, true), { passive: true });
    frame.addEventListener('touchmove', (event) => this.#pinch(event, false), { passive: false });
    this.#map.addEventListener('change', ({ detail }) => this.#changed(detail));
  }

  #click(target) {
    const { view, zoom } = target.dataset;
    if (view) this.#choose_view(view);
    else if (zoom) this.#zoom(zoom === 'in' ? zoom_step : 1 / zoom_step);
    else if (target === this.#find('whole')) this.#enter(null);
    else if (this.#find('frame').contains(target)) {
      const seat = target.closest('[data-seat]');
      const section = target.closest('[data-section]');
      const area = target.closest('[data-area]');
      if (area) this.#step(area, Number(target.closest('[data-step]')?.dataset.step ?? 1));
      if (seat) this.#go_to(Number(seat.dataset.seat));
      if (seat) this.#toggle(Number(seat.dataset.seat));
      else if (section) this.#enter(Number(section.dataset.section));
    }
  }

  #enter(section) {
    const left = this.#section;
    this.#section = section;
    this.#draw();
    const goal = section === null ? `[data-section="${left}"]` : '[tabindex="0"]';
    this.#find('frame').querySelector(goal)?.focus();
  }

  #step(area, by) {
    const index = Number(area.dataset.area);
    this.#choose_standing(index, this.#standing(index).chosen + by);
    area.focus();
  }

  /** False: the key changes no number. */
  #count(area, key) {
    const index = Number(area.dataset.area);
    const ends = { Home: 0, End: this.#standing(index).most };
    const more = ['ArrowUp', 'ArrowRight', '+', 'Enter', ' '];
    if (key in ends) this.#choose_standing(index, ends[key]);
    else if (more.includes(key)) this.#step(area, 1);
    else if (['ArrowDown', 'ArrowLeft', '-'].includes(key)) this.#step(area, -1);
    else return false;
    return true;
  }

  #key(event) {
    const area = event.target.closest('[data-area]');
    if (area) {
      if (this.#count(area, event.key)) event.preventDefault();
      return;
    }
    const section = event.target.closest('[data-section]');
    const is_press = event.key === 'Enter' || event.key === ' ';
    if (is_press && section) this.#enter(Number(section.dataset.section));
    else if (is_press && this.#current !== null) this.#toggle(this.#current);
    else if (event.key === 'Escape' && this.#section !== null) this.#enter(null);
    else if (event.key === '+' || event.key === '-')
      this.#zoom(event.key === '+' ? zoom_step : 1 / zoom_step);
    else if (this.#current === null || section || !this.#move(event.key)) return;
    event.preventDefault();
  }

  /** False: the key moves nowhere. */
  #move(key) {
    const rows = this.#drawn_rows();
    const at = rows.findIndex((row) => row.some((s) => s.number === this.#current));
    const row = rows[at];
    const place = row.findIndex((s) => s.number === this.#current);
    const nearest = (seats) =>
      seats?.reduce((a, b) => (Math.abs(b.x - row[place].x) < Math.abs(a.x - row[place].x) ? b : a));
    const goals = {
      ArrowLeft: () => row[place - 1],
      ArrowRight: () => row[place + 1],
      ArrowUp: () => nearest(rows[at - 1]),
      ArrowDown: () => nearest(rows[at + 1]),
      Home: () => row[0],
      End: () => row.at(-1),
    };
    if (!goals[key]) return false;
    const goal = goals[key]();
    if (goal) this.#go_to(goal.number);
    return true;
  }

  /** From the top to the bottom, each from the left to the right. */
  #drawn_rows() {
    const rows = new Map();
    for (const number of this.#drawn.keys()) {
      const seat = this.#map.seats[number];
      const key = `${seat.section}/${seat.row}`;
      if (!rows.has(key)) rows.set(key, []);
      rows.get(key).push(seat);
    }
    const height = (row) => row.reduce((sum, seat) => sum + seat.y, 0) / row.length;
    return [...rows.values()]
      .map((row) => row.sort((a, b) => a.x - b.x || a.y - b.y))
      .sort((a, b) => height(a) - height(b));
  }

  #go_to(number) {
    this.#drawn.get(this.#current)?.setAttribute('tabindex', -1);
    this.#current = number;
    const drawn = this.#drawn.get(number);
    drawn.setAttribute('tabindex', 0);
    drawn.focus();
  }

  #pinched = 0;
  #pinch(event, is_begun) {
    if (event.touches.length !== 2) return;
    const [a, b] = event.touches;
    const distance = Math.hypot(a.clientX - b.clientX, a.clientY - b.clientY);
    if (!is_begun) {
      event.preventDefault();
      this.#zoom(distance / this.#pinched);
    }
    this.#pinched = Math.max(distance, 1);
  }

  #accessible_changed() {
    for (const number of [...this.#chosen])
      if (!this.#map.known.accessible_for_all && this.#is_for_accessible(number)) this.#chosen.delete(number);
    this.#show_all();
    this.#fill_form();
  }

  #is_for_accessible(number) {
    return this.#map.seats[number].accessible || this.#map.seats[number].companion;
  }

  #show_all() {
    for (const number of new Set([...this.#drawn.keys(), ...this.#boxes.keys()])) this.#show(number);
  }

  /** Other visitors have held, bought or left seats, or the organizer has moved seats or changed a rule. */
  #changed(numbers) {
    const has_rule_changed = this.#was_for_all !== this.#map.known.accessible_for_all;
    this.#was_for_all = this.#map.known.accessible_for_all;
    const asked = [...this.#chosen].filter((n) => has_rule_changed || numbers.includes(n));
    const lost = asked.filter((n) => this.#offer(n) !== 'free');
    lost.forEach((n) => this.#chosen.delete(n));
    if (has_rule_changed) this.#show_all();
    else numbers.forEach((n) => this.#show(n));
    for (const [index] of this.#standing_areas()) {
      const { chosen, free } = this.#standing(index);
      if (chosen > free) this.#choose_standing(index, chosen); // as many as are left
    }
    this.#show_standing();
    const sections = new Set(numbers.map((n) => this.#map.seats[n].section));
    for (const shown of this.#root.querySelectorAll('[data-section]')) {
      const index = Number(shown.dataset.section);
      if (!has_rule_changed && !sections.has(index)) continue;
      if (shown.localName === 'details') shown.firstElementChild.textContent = this.#section_label(index);
      else shown.setAttribute('aria-label', this.#section_label(index));
    }
    if (asked.length > 0) this.#fill_form(); // a seat that was moved belongs to another field
    if (lost.length === 0) return;
    const seat = lost.map((n) => place_text(this.#map.seat(n))).join('; ');
    this.#announce(text('seat_lost', { seat }));
  }
}

/** Shows the seats of the event, or nothing: then a number of tickets gets the best ones. */
export async function show_seats(root, form) {
  const map = new SeatMap({
    server: state.base ? new URL(state.base, location.origin).href : location.origin,
    event: state.line,
    token: state.token,
  });
  try {
    await map.open();
  } catch {
    for (const field of form.querySelectorAll('input[name^="s."]')) field.value = ''; // unseen
    form.dispatchEvent(new Event('input', { bubbles: true }));
    return null;
  }
  new SeatPicker(root, form, map);
  return map;
}
