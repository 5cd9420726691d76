//! Analysis: from records to results. Pure; it never knows when or where a number was measured.

pub mod model;
