// Calls a function of an exported library (examples/add_one.mlir) from C++, on tensors of the host.
//
//     c++ -std=c++17 examples/cpp/add_one.cpp -I. -L. -ladd_one -Wl,-rpath,. -o add_one && ./add_one

#include <iostream>
#include <vector>

#include "add_one.hpp"

int main() {
  const std::vector<float> x{1, 2, 3, 4, 5};
  std::vector<float> y(5);
  // Of a GPU: cute::tensor(pointer, {5}, {kDLCUDA, 0}), and a stream behind the arguments.
  add_one::add_one_cpu(cute::tensor<const float, 1>(x.data(), {5}), cute::tensor<float, 1>(y.data(), {5}));
  for (float value : y) std::cout << value << ' ';
  std::cout << '\n';

  std::vector<double> wrong(5);
  try {
    add_one::add_one_cpu(cute::tensor<double, 1>(wrong.data(), {5}), cute::tensor<float, 1>(y.data(), {5}));
  } catch (const cute::Error &error) {
    std::cout << error.code() << ": " << error.what() << '\n';
  }
}
