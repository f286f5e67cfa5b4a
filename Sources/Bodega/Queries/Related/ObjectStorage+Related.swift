extension ObjectStorage {

    /// Fetches the first objects that match a query, or the next ones, with their related items.
    ///
    /// This takes one read more than without related items, see ``RelatedQuery``.
    ///
    /// - Parameters:
    ///   - query: The query.
    ///   - limit: The maximum number of objects. It does not limit their related items.
    ///   - cursor: The place after which to begin, from ``RelatedPage/next``.
    ///   - omittingUndecodable: Whether records that can't be decoded or decrypted are omitted, and listed in
    ///     ``RelatedPage/undecodable``, instead of ending the query. An omitted related item counts as absent.
    /// - Returns: The objects in the order of the query, with their related items.
    /// - Throws: A ``StorageError``, see ``fetch(_:limit:after:omittingUndecodable:)->QueryPage<Object>``.
    public func fetch<Related>(
        _ query: RelatedQuery<Object, Related>, limit: Int = .max, after cursor: QueryCursor? = nil,
        omittingUndecodable: Bool = false
    ) async throws -> RelatedPage<Object, Related> {
        let targets = query.relation.targets
        // Not at the moment, which ends before the indexes exist.
        prepareIndexes()
        targets.prepareIndexes()
        let page = MovedValue<RelatedPage<Object, Related>>()
        let read = MovedBody { [self] in
            let found = try await fetch(
                query.query, limit: limit, after: cursor, omittingUndecodable: omittingUndecodable)
            let related = try await query.relation.items(
                of: found.objectsAndKeys, omittingUndecodable: omittingUndecodable)
            let rows = found.objectsAndKeys.map { key, object in
                RelatedRow(
                    key: key, object: object,
                    related: Related(relatedItems: related.objects(of: query.relation.groups(of: object, key))))
            }
            page.value = RelatedPage(
                rows: rows, next: found.next, undecodable: found.undecodable + related.undecodable)
        }
        if let database = storage.database(with: [targets.storage]) {
            try await database.atOneMoment(read.run)
        } else {
            try await read.run()
        }
        guard let page = page.value else { preconditionFailure("A database reads at a moment, or throws.") }
        return page
    }
}
