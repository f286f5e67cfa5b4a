// The changes, which do the same as those of `StoredValue`; see `PersistedValue`.

extension AsyncStoredValue {

    /// Reads the value, changes it and stores it.
    ///
    /// The change is an atomic read-modify-write: no change of another task, process or machine is lost. On an engine
    /// that has no conditional batches, such as one on a JSON API, this holds for changes through the same engine
    /// object, or through one `AsyncStoredValue` if the engine is a structure, as wrappers are. A change that another
    /// process, engine or wrapper makes between the read and the write is then overwritten.
    ///
    /// - Parameter change: Changes the value. It may run more than once, each time with the current value. It cannot
    ///   change other values in engines, because that is asynchronous.
    /// - Throws: A `StorageError` if the value could not be read, encoded or stored; it is unchanged then. If the
    ///   engine stored it anyway, for example if its response was lost, the stored value is reread and published.
    public func modify(_ change: @Sendable (inout Item) -> Void) async throws {
        try await core.modify(change)
    }

    /// Replaces the stored value.
    ///
    /// - Parameter value: The new value.
    /// - Throws: A `StorageError` if the value could not be read, encoded or stored; it is unchanged then.
    public func set(_ value: Item) async throws {
        try await modify { $0 = value }
    }

    /// Stores the default value.
    ///
    /// - Throws: A `StorageError` if the old value could not be read, or the new one not stored; it is unchanged then.
    public func reset() async throws {
        try await set(core.defaultValue)
    }
}

extension AsyncStoredValue {

    /// Changes one property of the value.
    ///
    /// - Parameters:
    ///   - keyPath: The property.
    ///   - property: Its new value.
    /// - Throws: A `StorageError` if the value could not be read, encoded or stored; it is unchanged then.
    public func set<Property: Sendable>(
        _ keyPath: any WritableKeyPath<Item, Property> & Sendable, to property: Property
    ) async throws {
        try await modify { $0[keyPath: keyPath] = property }
    }

    /// Changes `false` to `true` and `true` to `false`.
    ///
    /// - Throws: A `StorageError` if the value could not be read, encoded or stored; it is unchanged then.
    public func toggle() async throws where Item == Bool {
        try await modify { $0.toggle() }
    }

    /// Appends an element to the collection, such as an array or a string.
    ///
    /// - Parameter element: The element.
    /// - Throws: A `StorageError` if the value could not be read, encoded or stored; it is unchanged then.
    public func append(_ element: Item.Element) async throws
    where Item: RangeReplaceableCollection, Item.Element: Sendable {
        try await modify { $0.append(element) }
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
    ) async throws where Item == [Element] {
        try await modify { _ = $0.replaceFirst(element, with: replacement) }
    }

    /// Removes all occurrences of an element from the array, or appends the element if there are none.
    ///
    /// - Parameter element: The element.
    /// - Throws: A `StorageError` if the value could not be read, encoded or stored; it is unchanged then.
    public func togglePresence<Element: Equatable & Sendable>(_ element: Element) async throws where Item == [Element] {
        try await modify { $0.togglePresence(of: element) }
    }

    /// Sets the entry of a key in the dictionary.
    ///
    /// - Parameters:
    ///   - key: The key.
    ///   - value: The entry's new value, or `nil` to remove the entry.
    /// - Throws: A `StorageError` if the value could not be read, encoded or stored; it is unchanged then.
    public func update<Key: Hashable & Sendable, Entry: Sendable>(key: Key, value: Entry?) async throws
    where Item == [Key: Entry] {
        try await modify { $0[key] = value }
    }
}
