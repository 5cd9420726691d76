//! The settings in php.ini.

use std::ffi::{CStr, c_char, c_int, c_void};

use ext_php_rs::error::php_error;
use ext_php_rs::ffi::{zend_ini_entry, zend_string};
use ext_php_rs::flags::{ErrorType, IniEntryPermission};
use ext_php_rs::zend::{IniEntryDef, IniEntryDefs, ModuleEntry};
use weighbridge_coding::{Error, Settings};

unsafe extern "C" {
    fn zend_ini_string(name: *const c_char, name_length: usize, orig: c_int) -> *mut c_char;
    fn display_ini_entries(module: *mut ModuleEntry);
}

/// An entry that refuses what cannot be read.
const fn checked(name: &'static CStr, default: &'static CStr) -> IniEntryDef {
    let mut entry = IniEntryDef::new(name, default, IniEntryPermission::All);
    entry.on_modify = Some(check);
    entry
}

static ENTRIES: IniEntryDefs<5> = IniEntryDefs::new([
    checked(c"weighbridge.codings", c"zstd,br,gzip"),
    checked(c"weighbridge.level", c""),
    checked(c"weighbridge.min_bytes", c"860"),
    checked(c"weighbridge.breach", c"cross-site"),
    IniEntryDef::end(),
]);

/// Where a build for tests panics.
static FAULTS: IniEntryDefs<2> = IniEntryDefs::new([
    IniEntryDef::new(c"weighbridge.fault", c"", IniEntryPermission::All),
    IniEntryDef::end(),
]);

/// Registers all entries; their values from php.ini are checked at once.
pub(crate) fn register(module: i32) {
    IniEntryDef::register(ENTRIES.as_slice(), module);
    if cfg!(debug_assertions) {
        IniEntryDef::register(FAULTS.as_slice(), module);
    }
}

/// Panics in a build with debug assertions if `weighbridge.fault` names this place: tests show that no panic crosses into PHP.
pub(crate) fn fault(place: &str) {
    debug_assert!(text("weighbridge.fault") != place, "the fault that weighbridge.fault asked for");
}

/// Refuses a value with one line that says what is expected; PHP then keeps the value before it.
unsafe extern "C" fn check(
    entry: *mut zend_ini_entry,
    value: *mut zend_string,
    _: *mut c_void,
    _: *mut c_void,
    _: *mut c_void,
    _stage: c_int,
) -> c_int {
    // SAFETY: PHP hands over a live entry and a live value.
    let (name, value) = unsafe { ((*(*entry).name).as_bytes(), value.as_ref()) };
    let Ok(value) = std::str::from_utf8(value.map_or(&[], |value| value.as_bytes())) else { return -1 };
    let values = Settings::ALL.map(|(known, own)| if known.as_bytes() == name { value } else { own });
    let Err(error) = Settings::read(values) else { return 0 };
    php_error(&ErrorType::Warning, &error.to_string());
    -1
}

/// Shows the entries in `phpinfo()`.
pub(crate) fn show(module: *mut ModuleEntry) {
    // SAFETY: PHP handed over the module, and asks for its entries.
    unsafe { display_ini_entries(module) }
}

/// The settings as they are now.
pub(crate) fn settings() -> Result<Settings, Error> {
    Settings::read(Settings::ALL.map(|(name, _)| text(name)))
}

/// The value of an entry, valid until it is set again; empty where there is none.
fn text(name: &str) -> &'static str {
    // SAFETY: the name is as long as said; the answer is null or ends in a zero byte.
    let value = unsafe {
        let value = zend_ini_string(name.as_ptr().cast(), name.len(), 0);
        if value.is_null() { c"" } else { CStr::from_ptr(value) }
    };
    value.to_str().unwrap_or_default()
}
