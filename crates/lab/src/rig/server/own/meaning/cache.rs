//! How long responses may be kept, as servers spell it.

/// The seconds of nginx's `expires`: `30d`, `1h30m`, `max`, `epoch`, as Cache-Control says them; none: not known, or nothing.
pub fn of_nginx(arguments: &[String]) -> Option<String> {
    let [value] = arguments else { return None };
    match value.as_str() {
        "off" => None,
        "epoch" => Some("no-cache".into()),
        "max" => Some("max-age=315360000".into()),
        value if value.starts_with('-') => Some("no-cache".into()),
        value => Some(format!("max-age={}", seconds(value.trim_start_matches('+'))?)),
    }
}

/// A time as nginx has it.
fn seconds(text: &str) -> Option<u64> {
    let (mut total, mut number) = (0_u64, None::<u64>);
    for c in text.chars() {
        if let Some(digit) = c.to_digit(10) {
            number = Some(number.unwrap_or(0).checked_mul(10)?.checked_add(digit.into())?);
            continue;
        }
        let unit = match c {
            's' => 1,
            'm' => 60,
            'h' => 3600,
            'd' => 86_400,
            'w' => 604_800,
            'M' => 2_592_000,
            'y' => 31_536_000,
            _ => return None,
        };
        total = total.checked_add(number.take()?.checked_mul(unit)?)?;
    }
    total.checked_add(number.unwrap_or(0))
}

/// The same of Apache's `ExpiresByType` and `ExpiresDefault`: `access plus 1 year 2 days`, `A3600`.
pub fn of_apache(text: &str) -> Option<String> {
    if let Some(number) = text.strip_prefix('A') {
        return number.parse::<u64>().ok().map(|seconds| format!("max-age={seconds}"));
    }
    let words: Vec<&str> = text.split_whitespace().collect();
    let rest = match words.as_slice() {
        ["access" | "now", "plus", rest @ ..] | ["access" | "now", rest @ ..] => rest,
        _ => return None,
    };
    let mut total = 0_u64;
    for pair in rest.chunks(2) {
        let [number, unit] = pair else { return None };
        let unit = match unit.trim_end_matches('s') {
            "second" => 1,
            "minute" => 60,
            "hour" => 3600,
            "day" => 86_400,
            "week" => 604_800,
            "month" => 2_592_000,
            "year" => 31_536_000,
            _ => return None,
        };
        total = total.checked_add(number.parse::<u64>().ok()?.checked_mul(unit)?)?;
    }
    Some(format!("max-age={total}"))
}
