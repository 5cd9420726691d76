//! Returns freed memory to the system, so that a peak is measured from a clean start.

/// Makes the allocator return free memory to the system. `true` if the allocator supports it (glibc).
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
