//! Panics on demand, in builds with debug assertions only: the tests show that none of them crosses into PHP.

/// Panics if `weighbridge.fault` names this place.
#[cfg(debug_assertions)]
pub(crate) fn at(place: &str) {
    assert!(crate::ini::text("weighbridge.fault") != place, "the fault that weighbridge.fault asked for");
}

/// Nothing, in a build for use.
#[cfg(not(debug_assertions))]
pub(crate) fn at(_place: &str) {}
