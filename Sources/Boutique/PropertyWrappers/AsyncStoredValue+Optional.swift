// The helpers for optional values. They do the same as the others, and start from an empty value instead of `nil`.

extension AsyncStoredValue {

    /// Changes one property of the value. `nil` stays `nil`.
    ///
    /// - Parameters:
    ///   - keyPath: The property.
    ///   - property: Its new value.
    /// - Throws: A `StorageError` if the value could not be read, encoded or stored; it is unchanged then.
    public func set<Wrapped, Property: Sendable>(
        _ keyPath: any WritableKeyPath<Wrapped, Property> & Sendable,
        to property: Property
    ) async throws where Item == Wrapped? {
        try await modify { $0?[keyPath: keyPath] = property }
    }

    /// Changes `false` to `true` and `true` to `false`. `nil` counts as `false`.
    ///
    /// - Throws: A `StorageError` if the value could not be read, encoded or stored; it is unchanged then.
    public func toggle() async throws where Item == Bool? {
        try await modify { $0.change(orNew: false) { $0.toggle() } }
    }

    /// Appends an element to the collection, such as an array or a string. `nil` counts as an empty collection.
    ///
    /// - Parameter element: The element.
    /// - Throws: A `StorageError` if the value could not be read, encoded or stored; it is unchanged then.
    public func append<Wrapped: RangeReplaceableCollection>(_ element: Wrapped.Element) async throws
    where Item == Wrapped?, Wrapped.Element: Sendable {
        try await modify { $0.change(orNew: Wrapped()) { $0.append(element) } }
    }

    /// Replaces the first element that equals another. If there is none, the value stays the same.
    ///
    /// - Parameters:
    ///   - element: The element to look for.
    ///   - replacement: The element that replaces it.
    /// - Throws: A `StorageError` if the value could not be read, encoded or stored; it is unchanged then.
    public func replace<Element: Equatable & Sendable>(
        _ element: Element,
        with replacement: Element
    ) async throws where Item == [Element]? {
        try await modify { _ = $0?.replaceFirst(element, with: replacement) }
    }

    /// Removes all occurrences of an element from the array, or appends it if there are none. `nil` counts as empty.
    ///
    /// - Parameter element: The element.
    /// - Throws: A `StorageError` if the value could not be read, encoded or stored; it is unchanged then.
    public func togglePresence<Element: Equatable & Sendable>(_ element: Element) async throws
    where Item == [Element]? {
        try await modify { $0.change(orNew: []) { $0.togglePresence(of: element) } }
    }

    /// Sets the entry of a key in the dictionary. `nil` counts as an empty dictionary.
    ///
    /// - Parameters:
    ///   - key: The key.
    ///   - value: The entry's new value, or `nil` to remove the entry.
    /// - Throws: A `StorageError` if the value could not be read, encoded or stored; it is unchanged then.
    public func update<Key: Hashable & Sendable, Entry: Sendable>(key: Key, value: Entry?) async throws
    where Item == [Key: Entry]? {
        try await modify { $0.change(orNew: [:]) { $0[key] = value } }
    }
}
