//! The thin binary: everything is in the library.
use std::process::ExitCode;

fn main() -> ExitCode {
    if let Some(code) = weigh::rig::lifeline::dispatch(std::env::args_os()) {
        return code;
    }
    ExitCode::SUCCESS
}
