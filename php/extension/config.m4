dnl phpize && ./configure && make && make test && make install: cargo builds the extension, for the PHP whose phpize was called.
PHP_ARG_ENABLE([weighbridge],
  [whether to build weighbridge],
  [AS_HELP_STRING([--enable-weighbridge], [Build Weighbridge])],
  [yes])
PHP_ARG_ENABLE([weighbridge-system-libraries],
  [whether weighbridge uses the compression libraries of the system],
  [AS_HELP_STRING([--enable-weighbridge-system-libraries], [Use the libdeflate, Brotli and Zstandard of the system])],
  [no], [no])

if test "$PHP_WEIGHBRIDGE" != "no"; then
  AC_PATH_PROG([CARGO], [cargo], [no], [$PATH:$HOME/.cargo/bin])
  if test "$CARGO" = "no"; then
    AC_MSG_ERROR([cargo was not found; install Rust 1.88 or newer: https://rustup.rs])
  fi
  AC_PATH_PROG([CLANG], [clang], [no])
  if test "$CLANG" = "no"; then
    AC_MSG_ERROR([clang was not found; it reads the headers of PHP. Install it: apt install clang libclang-dev])
  fi
  WEIGHBRIDGE_PHP_CONFIG=`command -v "$PHP_CONFIG"`
  if test "$PHP_WEIGHBRIDGE_SYSTEM_LIBRARIES" != "no"; then
    WEIGHBRIDGE_FEATURES="--no-default-features --features system"
  fi
  PHP_MODULES="$PHP_MODULES \$(phplibdir)/weighbridge.la"
  PHP_SUBST([CARGO])
  PHP_SUBST([WEIGHBRIDGE_PHP_CONFIG])
  PHP_SUBST([WEIGHBRIDGE_FEATURES])
  PHP_ADD_MAKEFILE_FRAGMENT([$srcdir/Makefile.frag])
fi
