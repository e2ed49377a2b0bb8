// The class Rotary of the module.
#pragma once

#include "posenc/accuracy.h"
#include "posenc/model/rotary.h"
#include "posenc/model/rotary_config.h"

#include <string>
#include <utility>

namespace posenc::python {

/// A rotary embedding, and what it was made of besides its spec.
class PyRotary : public Rotary {
 public:
  /// `text` is what its repr() says in parentheses: the spec, or what it was read from.
  PyRotary(const RotarySpec& spec, const Accuracy& accuracy, std::string text)
      : Rotary(spec, accuracy), accuracy_(accuracy), text_(std::move(text)) {}
  PyRotary(const RotarySpec& spec, const Accuracy& accuracy)
      : PyRotary(spec, accuracy, to_string(spec)) {}

  const Accuracy& accuracy() const noexcept { return accuracy_; }
  const std::string& text() const noexcept { return text_; }

 private:
  Accuracy accuracy_;
  std::string text_;
};

}  // namespace posenc::python
