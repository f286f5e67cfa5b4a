/// The groups that fit into a request.
///
/// Groups that were not applied together are sent in requests of at most half as many, and without others. So each is
/// alone after a few requests, however much is written in the meantime, and what was written is not held up.
package struct RequestRoom: Sendable {
    private var maximum: Int
    private var count = 0
    private var isDivided: Bool?

    /// Creates room for at most a number of groups.
    package init(groups: Int) { maximum = groups }

    /// Whether there is room for another group, as far as it is known without it.
    package var isFull: Bool { count >= maximum }

    /// Takes a group.
    ///
    /// - Parameter edit: The version of one of its items.
    /// - Returns: Whether there was room for it.
    package mutating func take(_ edit: OutboxRecord.Edit) -> Bool {
        let (limit, isDivided) = (min(maximum, edit.maximumGroups ?? maximum), edit.maximumGroups != nil)
        guard count < limit, self.isDivided ?? isDivided == isDivided else { return false }
        (count, maximum, self.isDivided) = (count + 1, limit, isDivided)
        return true
    }
}
