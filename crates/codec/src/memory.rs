//! Giving freed memory back, so that a peak can be measured from a clean start.

/// Asks the allocator to return what is free to the system. `true` where that can be asked (glibc).
pub fn trim() -> bool {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        // SAFETY: malloc_trim takes no pointer and may be called at any time from any thread.
        unsafe { libc::malloc_trim(0) };
        true
    }
    #[cfg(not(all(target_os = "linux", target_env = "gnu")))]
    false
}
