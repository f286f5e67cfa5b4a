import Bodega

/// The things that have occurred in this process, so that each is logged only once.
final class FirstOccurrences<Element: Hashable & Sendable>: Sendable {
    private let known = Locked<Set<Element>>([])

    /// Notes an occurrence.
    ///
    /// - Returns: Whether it is the first one of the element.
    func insert(_ element: Element) -> Bool { known.withLock { $0.insert(element).inserted } }
}
