//! Real-time priority, as far as it is permitted: for the emulator, without which the delay wanders on a busy machine, and for those who measure
//! a link, so that it is the link that they measure and not who else runs.

use std::num::NonZeroU64;

use thread_priority::unix::{
    RealtimeThreadSchedulePolicy, ThreadSchedulePolicy, set_thread_priority_and_policy, thread_native_id,
};
use thread_priority::{ThreadPriority, ThreadPriorityValue};

/// The emulator's: above everything ordinary, below what the kernel itself runs.
pub(super) const EMULATOR: u8 = 20;
/// That of those who measure: they never keep the emulator waiting.
pub(super) const MEASURE: u8 = 10;

/// Gives it to this thread, for ever; where that is not permitted, timers that are as exact as can be. Whether it has it.
pub(super) fn hurry(priority: u8) -> bool {
    let policy = ThreadSchedulePolicy::Realtime(RealtimeThreadSchedulePolicy::Fifo);
    let set = |priority| set_thread_priority_and_policy(thread_native_id(), priority, policy).is_ok();
    let has =
        ThreadPriorityValue::try_from(priority).is_ok_and(|value| set(ThreadPriority::Crossplatform(value)));
    let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
    has
}
