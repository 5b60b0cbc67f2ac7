// SPDX-License-Identifier: Apache-2.0
#include "tests/print/sample_tickets.hpp"

#include "print/cairo_pointers.hpp"

#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>

#include <cmath>
#include <fstream>
#include <iterator>
#include <map>
#include <random>

namespace fq::test {
namespace {

struct sample_values {
  std::string event, date, place, type, seat, attendee, price, terms;
};

const std::map<std::string, sample_values>& values() {
  static const std::map<std::string, sample_values> all{
    {"en",
     {"Summer Night’s Open Air", "Saturday, 17 July 2027, 19:30 (doors 18:00)",
      "Riverside Park, 12 Harbour Road, Bristol", "Standing, front", "Block C · Row 12 · Seat 34",
      "Siobhán O’Connor", "£ 64.50",
      "The ticket is valid for the named person. Please bring an identity card.\n"
      "No glass, no umbrellas. Children under twelve need an adult."}},
    {"fr",
     {"Nuit d’été à l’opéra", "samedi 17 juillet 2027, 19 h 30", "Opéra Garnier, 8 rue Scribe, 75009 Paris",
      "Première catégorie", "Loge 7 · Place 2", "Zoë Lefèvre-Nuñez", "64,50 €",
      "Le billet est nominatif. Une pièce d’identité est demandée à l’entrée."}},
    {"es",
     {"Noche de verano", "sábado, 17 de julio de 2027, 19:30", "Plaza Mayor, 1, Cáceres", "Pista",
      "Fila 3 · Asiento 8", "María José Núñez Íñiguez", "64,50 €", "La entrada es nominativa."}},
    {"hr",
     {"Ljetna večer na Šalati", "subota, 17. srpnja 2027., 19:30", "Šalata, Schlosserove stube 2, Zagreb",
      "Parter", "Red 5 · Sjedalo 21", "Željka Đurđević-Čačić", "64,50 €", "Ulaznica glasi na ime."}},
    {"ar",
     {"ليلة صيف في الهواء الطلق", "السبت 17 يوليو 2027، الساعة 19:30", "مسرح المدينة، شارع الحمراء، بيروت",
      "الدرجة الأولى", "الصف 12 · المقعد 34", "محمد عبد الرحمن", "64.50 $",
      "التذكرة صالحة للشخص المسمّى فقط. يرجى إحضار بطاقة الهوية.\nيُمنع إدخال الزجاج."}},
  };
  return all;
}

boost::json::object labels_of(const std::string& language) {
  std::ifstream in{FQ_TEXTS "/" + language + ".json"};
  const std::string text{std::istreambuf_iterator<char>{in}, {}};
  return boost::json::parse(text).as_object();
}

cairo_status_t append(void* to, const unsigned char* bytes, unsigned size) {
  static_cast<std::string*>(to)->append(reinterpret_cast<const char*>(bytes), size);
  return CAIRO_STATUS_SUCCESS;
}

std::string png_of(cairo_surface_t* image) {
  std::string png;
  cairo_surface_write_to_png_stream(image, append, &png);
  return png;
}

} // namespace

print::event_ticket_document sample_ticket(const std::string& language) {
  const auto labels = labels_of(language);
  const auto label = [&](const char* key) { return std::string{labels.at(key).as_string()}; };
  const auto& v = values().at(language);
  print::event_ticket_page page;
  page.event = v.event;
  page.facts = {{label("event_ticket_date"), v.date},  {label("event_ticket_place"), v.place},
                {label("event_ticket_type"), v.type},  {label("event_ticket_seat"), v.seat},
                {label("last_name"), v.attendee},      {label("order_number"), "7F3K-22QX"},
                {label("event_ticket_price"), v.price}};
  page.code = "W50TK404DGWLDFUV+RFCJ:SA2122PJ2YOQ0TW9C/QM6-QS4VO130003+0UZS%N0:6KWFCFM5FJO09I$ZPZQ4:Q0XLDH "
              "7B*C8E6XDU136*Q291NDMC5AEQPL133K2MPJ3 X4HEP43V$:2J3SBHALKU80";
  page.code_note = label("event_ticket_code_note");
  page.terms_label = label("event_ticket_terms");
  page.terms = v.terms;
  print::event_ticket_document document;
  document.title = v.event;
  document.language = language;
  document.is_right_to_left = language == "ar";
  document.created_at = from_unix_ms(1'795'000'000'000);
  document.pages = {page};
  return document;
}

std::string photo_png(int width, int height) {
  const print::owned<cairo_surface_t> image{cairo_image_surface_create(CAIRO_FORMAT_RGB24, width, height)};
  auto* bytes = cairo_image_surface_get_data(image.get());
  const int stride = cairo_image_surface_get_stride(image.get());
  std::minstd_rand random{1};
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x)
      for (int colour = 0; colour < 3; ++colour) {
        const double wave = std::sin(x * 0.013 * (colour + 1)) * std::cos(y * 0.017 * (3 - colour));
        bytes[y * stride + x * 4 + colour] =
          static_cast<unsigned char>(128 + 90 * wave + static_cast<double>(random() % 30) - 15);
      }
  cairo_surface_mark_dirty(image.get());
  return png_of(image.get());
}

std::string sign_png() {
  const print::owned<cairo_surface_t> image{cairo_image_surface_create(CAIRO_FORMAT_ARGB32, 600, 200)};
  const print::owned<cairo_t> to{cairo_create(image.get())};
  cairo_set_source_rgb(to.get(), 0.1, 0.3, 0.6);
  cairo_arc(to.get(), 100, 100, 90, 0, 6.3);
  cairo_fill(to.get());
  cairo_rectangle(to.get(), 230, 70, 350, 60);
  cairo_fill(to.get());
  return png_of(image.get());
}

} // namespace fq::test
