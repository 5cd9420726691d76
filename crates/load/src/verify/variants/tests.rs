use super::*;
use crate::fault::HttpFaultKind;

fn variant(wire: &[u8], wrong: bool) -> Variant {
    let fault = wrong.then(|| Arc::new(HttpFault::new(HttpFaultKind::Mismatch, "other")));
    Variant { coding: Coding::Gzip, wire: wire.into(), decoded_bytes: 100, fault }
}

fn view(wires: &[&[u8]]) -> View {
    let shared = Variants::default();
    wires.iter().for_each(|wire| shared.add(variant(wire, false)));
    let mut view = View::default();
    view.refresh(&shared);
    view
}

#[test]
fn a_set_holds_eight_of_each_kind_and_none_twice() {
    let shared = Variants::default();
    for i in 0..20 {
        shared.add(variant(&[i / 2, 0], false));
        shared.add(variant(&[i / 2, 1], true));
    }
    let list = shared.copy();
    assert_eq!(list.len(), 2 * MOST);
    assert_eq!(list.iter().filter(|v| v.fault.is_some()).count(), MOST);
    assert!(!shared.has_room(true) && !shared.has_room(false));
    assert!(find(&list, Coding::Gzip, &[7, 1]).is_some());
    assert!(find(&list, Coding::Gzip, &[8, 1]).is_none());
    assert!(find(&list, Coding::Brotli, &[7, 1]).is_none());
}

#[test]
fn a_view_sees_what_was_added_and_keeps_its_indices() {
    let shared = Variants::default();
    let mut view = View::default();
    view.refresh(&shared);
    assert_eq!(view.first(Coding::Gzip), None);
    shared.add(variant(b"one", false));
    view.refresh(&shared);
    shared.add(variant(b"two", false));
    assert_eq!(view.list().len(), 1);
    view.refresh(&shared);
    assert_eq!(*view.list()[0].wire, *b"one");
    view.matched(1);
    assert_eq!((view.first(Coding::Gzip), view.first(Coding::Brotli)), (Some(1), None));
}

#[test]
fn another_variant_has_the_same_beginning() {
    let view = view(&[b"abcde", b"abcdX", b"abc", b"Xbcdef"]);
    assert_eq!(view.other(0, 4, b"X", false), Some(1));
    assert_eq!(view.other(0, 3, b"", true), Some(2));
    assert_eq!(view.other(0, 3, b"", false), Some(0));
    assert_eq!(view.other(0, 3, b"dX", true), Some(1));
    assert_eq!(view.other(0, 3, b"d", true), None);
    assert_eq!(view.other(0, 5, b"f", false), None, "the beginning is another");
    assert_eq!(view.other(3, 1, b"bcdef", true), Some(3));
}
