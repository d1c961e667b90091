// What is asked of the GPU's driver past PyTorch's operations and past Triton's launches: see driver.cpp.

#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace driver {

enum class Kind { kLaunch, kToHost, kFromHost, kCopy };

struct Call {
  Kind kind;
  std::string name;     // of the kernel, or of the driver's function
  std::string library;  // the file whose code asked for it, empty for code of no file
  std::set<uint64_t> addresses;  // what may be addresses among a launch's parameters; target and source of a copy
};

// CUPTI's version where PyTorch has it, else 0.
uint32_t version();

// Has calls noted until told otherwise, but for those that ``is_accounted`` says are asked for within an operation. Empty, or why not.
std::string watch(bool on, bool (*is_accounted)());

// This thread's next launches of a function, a CUfunction, are accounted for; 0 ends that.
void expect(uint64_t function);

// Calls noted since last asked; those that differ in nothing but addresses may be one. None if there were too many to keep.
std::optional<std::vector<Call>> take();

// How many calls were seen so far, noted or not.
long seen();

}  // namespace driver
