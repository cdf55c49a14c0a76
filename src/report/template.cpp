#include "report/template.hpp"

#include <kainjow/mustache.hpp>
#include <stdexcept>

#include "report/templates.hpp"

namespace tessera::report {
namespace {

namespace mustache = kainjow::mustache;

mustache::data filling(const View& view) {
  if (view.is_object()) {
    mustache::data object(mustache::data::type::object);
    for (const auto& [name, value] : view.items()) {
      object.set(name, filling(value));
    }
    return object;
  }
  if (view.is_array()) {
    mustache::data list(mustache::data::type::list);
    for (const View& entry : view) {
      list.push_back(filling(entry));
    }
    return list;
  }
  if (view.is_boolean()) {
    return {view.get<bool>()};
  }
  return {view.get<std::string>()};
}

mustache::data part(std::string_view text) {
  text.remove_suffix(text.size() - 1 - text.find_last_not_of('\n'));  // the last line's end is the file's
  return {mustache::partial([text] { return std::string(text); })};
}

}  // namespace

std::string render(const std::string& text, const View& view) {
  mustache::mustache form(text);
  mustache::data data = filling(view);
  data.set("bars_figure", part(bars_template));
  data.set("marks_figure", part(marks_template));
  data.set("curves_figure", part(curves_template));
  data.set("summary_table", part(summary_template));
  data.set("text_pieces", part(text_template));
  data.set("style", part(style_template));
  std::string result = form.render(data);
  if (!form.is_valid()) {
    throw std::logic_error("template: " + form.error_message());
  }
  return result;
}

std::string render_page(const View& view) { return render(std::string(page_template), view); }

}  // namespace tessera::report
