// The helpers for values that are not optional.

extension PersistedValue {

    /// Changes one property of the value.
    ///
    /// - Parameters:
    ///   - keyPath: The property.
    ///   - property: Its new value.
    /// - Throws: `Failure` if the value was not changed.
    public func set<Property>(_ keyPath: WritableKeyPath<Value, Property>, to property: Property) throws(Failure) {
        try modify { $0[keyPath: keyPath] = property }
    }

    /// Changes `false` to `true` and `true` to `false`.
    ///
    /// - Throws: `Failure` if the value was not changed.
    public func toggle() throws(Failure) where Value == Bool {
        try modify { $0.toggle() }
    }

    /// Appends an element to the collection, such as an array or a string.
    ///
    /// - Parameter element: The element.
    /// - Throws: `Failure` if the value was not changed.
    public func append(_ element: Value.Element) throws(Failure) where Value: RangeReplaceableCollection {
        try modify { $0.append(element) }
    }

    /// Replaces the first element that equals another. If there is none, the value stays the same.
    ///
    /// - Parameters:
    ///   - element: The element to look for.
    ///   - replacement: The element that replaces it.
    /// - Returns: Whether there was such an element.
    /// - Throws: `Failure` if the value was not changed.
    @discardableResult
    public func replace(
        _ element: Value.Element,
        with replacement: Value.Element
    ) throws(Failure) -> Bool where Value: RangeReplaceableCollection, Value.Element: Equatable {
        var isFound = false
        try modify { isFound = $0.replaceFirst(element, with: replacement) }
        return isFound
    }

    /// Removes all occurrences of an element from the array, or appends the element if there are none.
    ///
    /// - Parameter element: The element.
    /// - Throws: `Failure` if the value was not changed.
    public func togglePresence<Element: Equatable>(_ element: Element) throws(Failure) where Value == [Element] {
        try modify { $0.togglePresence(of: element) }
    }

    /// Sets the entry of a key in the dictionary.
    ///
    /// - Parameters:
    ///   - key: The key.
    ///   - value: The entry's new value, or `nil` to remove the entry.
    /// - Throws: `Failure` if the value was not changed.
    public func update<Key: Hashable, Entry>(key: Key, value: Entry?) throws(Failure) where Value == [Key: Entry] {
        try modify { $0[key] = value }
    }
}
