import Bodega

extension Store {

    /// Returns the items whose property has a value, in insertion order.
    ///
    /// ```swift
    /// let notesInFolder = notes.items(where: \.folderID, equals: folder.id)
    /// ```
    ///
    /// The first call for a property reads the property of all items. After that, a call takes time in proportion to
    /// its result, at any number of items: each change of the items also keeps the store's knowledge of this property
    /// up to date, in constant time for each changed item. The knowledge is lost when the store reads all items again.
    ///
    /// Observers are notified as those of ``items`` are. Values are compared with `==`: no item is found by NaN.
    ///
    /// - Parameters:
    ///   - property: The property. Use the key path of a stored property, or of one that is computed from the item
    ///     alone.
    ///   - value: The value.
    public func items<Value: Hashable>(
        where property: any KeyPath<Item, Value> & Sendable, equals value: Value
    ) -> [Item] {
        model.reportEarlyRead()
        return model.items(with: AnyHashable(value), in: ItemLookup.Property(property))
    }

    /// Returns the items whose property contains an element, in insertion order, each once; see
    /// ``items(where:equals:)``.
    ///
    /// ```swift
    /// let tagged = notes.items(where: \.tagIDs, contains: tag.id)
    /// ```
    ///
    /// - Parameters:
    ///   - property: The property.
    ///   - element: The element.
    public func items<Element: Hashable>(
        where property: any KeyPath<Item, [Element]> & Sendable, contains element: Element
    ) -> [Item] {
        model.reportEarlyRead()
        return model.items(with: AnyHashable(element), in: ItemLookup.Property(elementsOf: property))
    }
}
