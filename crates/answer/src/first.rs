//! Collects things in the order of their first appearance.

pub(crate) fn distinct<T: PartialEq>(things: impl IntoIterator<Item = T>) -> Vec<T> {
    let mut known: Vec<T> = Vec::new();
    for thing in things {
        if !known.contains(&thing) {
            known.push(thing);
        }
    }
    known
}

/// Groups those with the same key.
pub(crate) fn grouped<K: PartialEq, T>(things: impl IntoIterator<Item = (K, T)>) -> Vec<(K, Vec<T>)> {
    let mut groups: Vec<(K, Vec<T>)> = Vec::new();
    for (key, thing) in things {
        match groups.iter_mut().find(|(known, _)| *known == key) {
            Some((_, members)) => members.push(thing),
            None => groups.push((key, vec![thing])),
        }
    }
    groups
}
