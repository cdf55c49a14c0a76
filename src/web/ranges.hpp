#pragma once

// Included before every source of the module. Debian 12's Emscripten has the C++ library of LLVM 13, which lacks the
// algorithms of std::ranges: these are the ones that the verifier uses, as far as it uses them.

#include <version>

#ifndef __cpp_lib_ranges

#include <algorithm>
#include <functional>
#include <iterator>
#include <utility>

namespace std::ranges {

template <class I, class O>
struct in_out_result {
  I in;
  O out;
};

namespace stand_in {

template <class R>
using iterator = decltype(std::begin(std::declval<R&>()));

struct copy_function {
  template <class I, class S, class O>
  constexpr in_out_result<I, O> operator()(I first, S last, O out) const {
    for (; first != last; ++first, ++out) {
      *out = *first;
    }
    return {first, out};
  }
  template <class R, class O>
  constexpr in_out_result<iterator<R>, O> operator()(R&& range, O out) const {
    return (*this)(std::begin(range), std::end(range), out);
  }
};

struct move_function {
  template <class R, class O>
  constexpr void operator()(R&& range, O out) const {
    std::move(std::begin(range), std::end(range), out);
  }
};

struct transform_function {
  template <class R, class O, class F>
  constexpr void operator()(R&& range, O out, F function) const {
    std::transform(std::begin(range), std::end(range), out, std::ref(function));
  }
};

struct generate_function {
  template <class R, class F>
  constexpr void operator()(R&& range, F function) const {
    std::generate(std::begin(range), std::end(range), std::ref(function));
  }
};

struct for_each_function {
  template <class R, class F>
  constexpr void operator()(R&& range, F function) const {
    std::for_each(std::begin(range), std::end(range), std::ref(function));
  }
};

struct equal_function {
  template <class A, class B, class C = std::equal_to<>>
  constexpr bool operator()(A&& a, B&& b, C compare = {}) const {
    return std::equal(std::begin(a), std::end(a), std::begin(b), std::end(b), compare);
  }
};

template <class Compare, class Projection>
struct projected_compare {
  Compare& compare;
  Projection& projection;
  template <class A, class B>
  constexpr bool operator()(A&& a, B&& b) const {
    return std::invoke(compare, std::invoke(projection, a), std::invoke(projection, b));
  }
};

struct sort_function {
  template <class R, class C = std::less<>, class P = std::identity>
  constexpr void operator()(R&& range, C compare = {}, P projection = {}) const {
    std::sort(std::begin(range), std::end(range), projected_compare<C, P>{compare, projection});
  }
};

struct max_element_function {
  template <class R, class C = std::less<>, class P = std::identity>
  constexpr iterator<R> operator()(R&& range, C compare = {}, P projection = {}) const {
    return std::max_element(std::begin(range), std::end(range), projected_compare<C, P>{compare, projection});
  }
};

struct adjacent_find_function {
  template <class R, class C = std::equal_to<>, class P = std::identity>
  constexpr iterator<R> operator()(R&& range, C compare = {}, P projection = {}) const {
    return std::adjacent_find(std::begin(range), std::end(range), projected_compare<C, P>{compare, projection});
  }
};

struct find_if_function {
  template <class R, class F, class P = std::identity>
  constexpr iterator<R> operator()(R&& range, F function, P projection = {}) const {
    return std::find_if(std::begin(range), std::end(range),
                        [&](auto&& x) { return std::invoke(function, std::invoke(projection, x)); });
  }
};

struct find_function {
  template <class R, class T, class P = std::identity>
  constexpr iterator<R> operator()(R&& range, const T& value, P projection = {}) const {
    return std::find_if(std::begin(range), std::end(range),
                        [&](auto&& x) { return std::invoke(projection, x) == value; });
  }
};

struct any_of_function {
  template <class R, class F, class P = std::identity>
  constexpr bool operator()(R&& range, F function, P projection = {}) const {
    return find_if_function()(range, std::ref(function), std::ref(projection)) != std::end(range);
  }
};

struct all_of_function {
  template <class R, class F, class P = std::identity>
  constexpr bool operator()(R&& range, F function, P projection = {}) const {
    return !any_of_function()(range, [&](auto&& x) { return !std::invoke(function, std::invoke(projection, x)); });
  }
};

struct lower_bound_function {
  template <class I, class T, class C = std::less<>, class P = std::identity>
  constexpr I operator()(I first, I last, const T& value, C compare, P projection) const {
    return std::lower_bound(first, last, value, [&](const auto& x, const T& v) {
      return static_cast<bool>(std::invoke(compare, std::invoke(projection, x), v));
    });
  }
  template <class R, class T, class C = std::less<>, class P = std::identity>
  constexpr iterator<R> operator()(R&& range, const T& value, C compare = {}, P projection = {}) const {
    return (*this)(std::begin(range), std::end(range), value, std::ref(compare), std::ref(projection));
  }
};

struct upper_bound_function {
  template <class I, class T, class C = std::less<>, class P = std::identity>
  constexpr I operator()(I first, I last, const T& value, C compare, P projection) const {
    return std::upper_bound(first, last, value, [&](const T& v, const auto& x) {
      return static_cast<bool>(std::invoke(compare, v, std::invoke(projection, x)));
    });
  }
  template <class R, class T, class C = std::less<>, class P = std::identity>
  constexpr iterator<R> operator()(R&& range, const T& value, C compare = {}, P projection = {}) const {
    return (*this)(std::begin(range), std::end(range), value, std::ref(compare), std::ref(projection));
  }
};

struct binary_search_function {
  template <class R, class T, class C = std::less<>>
  constexpr bool operator()(R&& range, const T& value, C compare = {}) const {
    return std::binary_search(std::begin(range), std::end(range), value, compare);
  }
};

}  // namespace stand_in

inline constexpr stand_in::copy_function copy{};
inline constexpr stand_in::move_function move{};
inline constexpr stand_in::transform_function transform{};
inline constexpr stand_in::generate_function generate{};
inline constexpr stand_in::for_each_function for_each{};
inline constexpr stand_in::equal_function equal{};
inline constexpr stand_in::sort_function sort{};
inline constexpr stand_in::max_element_function max_element{};
inline constexpr stand_in::adjacent_find_function adjacent_find{};
inline constexpr stand_in::find_if_function find_if{};
inline constexpr stand_in::find_function find{};
inline constexpr stand_in::any_of_function any_of{};
inline constexpr stand_in::all_of_function all_of{};
inline constexpr stand_in::lower_bound_function lower_bound{};
inline constexpr stand_in::upper_bound_function upper_bound{};
inline constexpr stand_in::binary_search_function binary_search{};

}  // namespace std::ranges

#endif
