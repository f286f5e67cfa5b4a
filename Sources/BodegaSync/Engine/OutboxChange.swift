/// What a transaction has changed in the outbox.
struct OutboxChange: Sendable {
    /// By how much the number of items has changed, without those that are parked.
    private(set) var pending = 0
    /// By how much the number of parked items has changed.
    private(set) var parked = 0
    /// What has become of changes.
    private(set) var outcomes: [SyncOutcome] = []

    init() {}

    init(from reading: OutboxStorage.Reading, to draft: OutboxDraft) {
        outcomes = draft.outcomes
        for item in reading.recordItems {
            count(reading.draft.records[item], -1)
            count(draft.records[item], 1)
        }
    }

    private mutating func count(_ record: OutboxRecord?, _ number: Int) {
        guard let record else { return }
        if record.isParked { parked += number } else { pending += number }
    }
}
