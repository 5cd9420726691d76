//! What a subject stands on, started and ended by the lab, and the meters beside it.

pub mod machine;
pub mod runtime;
