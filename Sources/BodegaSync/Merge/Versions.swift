/// Something in the three versions of an item.
struct Versions<Element> {
    var base: Element
    var local: Element
    var remote: Element

    subscript(side: MergeSide) -> Element { side == .local ? local : remote }
}
