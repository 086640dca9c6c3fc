// The one place where asio itself is compiled (ASIO_SEPARATE_COMPILATION).
#include <asio/impl/src.hpp>
