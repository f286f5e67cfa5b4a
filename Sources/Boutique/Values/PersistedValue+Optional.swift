// The helpers for optional values. They do the same as the others, and start from an empty value instead of `nil`.

extension PersistedValue {

    /// Changes one property of the value. `nil` stays `nil`.
    ///
    /// - Parameters:
    ///   - keyPath: The property.
    ///   - property: Its new value.
    /// - Throws: `Failure` if the value was not changed.
    public func set<Wrapped, Property>(
        _ keyPath: WritableKeyPath<Wrapped, Property>,
        to property: Property
    ) throws(Failure) where Value == Wrapped? {
        try modify { $0?[keyPath: keyPath] = property }
    }

    /// Changes `false` to `true` and `true` to `false`. `nil` counts as `false`.
    ///
    /// - Throws: `Failure` if the value was not changed.
    public func toggle() throws(Failure) where Value == Bool? {
        try modify { $0.change(orNew: false) { $0.toggle() } }
    }

    /// Appends an element to the collection, such as an array or a string. `nil` counts as an empty collection.
    ///
    /// - Parameter element: The element.
    /// - Throws: `Failure` if the value was not changed.
    public func append<Wrapped: RangeReplaceableCollection>(_ element: Wrapped.Element) throws(Failure)
    where Value == Wrapped? {
        try modify { $0.change(orNew: Wrapped()) { $0.append(element) } }
    }

    /// Replaces the first element that equals another. If there is none, the value stays the same.
    ///
    /// - Parameters:
    ///   - element: The element to look for.
    ///   - replacement: The element that replaces it.
    /// - Returns: Whether there was such an element.
    /// - Throws: `Failure` if the value was not changed.
    @discardableResult
    public func replace<Wrapped: RangeReplaceableCollection>(
        _ element: Wrapped.Element,
        with replacement: Wrapped.Element
    ) throws(Failure) -> Bool where Value == Wrapped?, Wrapped.Element: Equatable {
        var isFound = false
        try modify { isFound = $0?.replaceFirst(element, with: replacement) ?? false }
        return isFound
    }

    /// Removes all occurrences of an element from the array, or appends it if there are none. `nil` counts as empty.
    ///
    /// - Parameter element: The element.
    /// - Throws: `Failure` if the value was not changed.
    public func togglePresence<Element: Equatable>(_ element: Element) throws(Failure) where Value == [Element]? {
        try modify { $0.change(orNew: []) { $0.togglePresence(of: element) } }
    }

    /// Sets the entry of a key in the dictionary. `nil` counts as an empty dictionary.
    ///
    /// - Parameters:
    ///   - key: The key.
    ///   - value: The entry's new value, or `nil` to remove the entry.
    /// - Throws: `Failure` if the value was not changed.
    public func update<Key: Hashable, Entry>(key: Key, value: Entry?) throws(Failure) where Value == [Key: Entry]? {
        try modify { $0.change(orNew: [:]) { $0[key] = value } }
    }
}
