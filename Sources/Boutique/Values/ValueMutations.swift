// The mutations of the value wrappers' helpers that the standard library lacks.

extension RangeReplaceableCollection where Element: Equatable {

    /// Replaces the first element that equals another.
    ///
    /// - Returns: Whether there was such an element.
    mutating func replaceFirst(_ element: Element, with replacement: Element) -> Bool {
        guard let index = firstIndex(of: element) else { return false }
        replaceSubrange(index...index, with: CollectionOfOne(replacement))
        return true
    }
}

extension Array where Element: Equatable {

    mutating func togglePresence(of element: Element) {
        if contains(element) {
            removeAll { $0 == element }
        } else {
            append(element)
        }
    }
}

extension Optional {

    /// Changes the value, or a new one in place of `nil`.
    mutating func change<Result>(orNew new: @autoclosure () -> Wrapped, _ change: (inout Wrapped) -> Result) -> Result {
        var value = self ?? new()
        self = nil
        defer { self = value }
        return change(&value)
    }
}
