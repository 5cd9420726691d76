//! From plans and records to reports and their forms.

mod codec;
