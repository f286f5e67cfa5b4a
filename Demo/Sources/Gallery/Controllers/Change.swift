import Boutique

/// What can change while a page is open.
enum Change: String, Sendable, CaseIterable {
    case favourites
    case easel
    case account
    case preferences
    case availability
    case notice
    /// Nothing has changed; the connection is alive.
    case heartbeat
}

extension GalleryControllers {

    /// Posts all that changes into a mailbox, beginning with what is there, until the task is cancelled.
    ///
    /// - Parameters:
    ///   - mailbox: Where to.
    ///   - heartbeat: How often to post ``Change/heartbeat``.
    func forwardChanges(to mailbox: Mailbox, heartbeat: Duration) async {
        await withTaskGroup { group in
            func forward(_ source: some AsyncSequence<some Sendable, Never> & Sendable, as change: Change) {
                group.addTask {
                    for await _ in source { mailbox.post(change) }
                }
            }
            forward(favourites.$favourites.events, as: .favourites)
            forward(easel.$exhibit.values, as: .easel)
            forward(easel.fetching.events, as: .easel)
            forward(account.$session.values, as: .account)
            forward(preferences.$theme.values, as: .preferences)
            forward(preferences.$sortOrder.values, as: .preferences)
            forward(availability.changes.events, as: .availability)
            forward(noticeboard.changes.events, as: .notice)
            group.addTask {
                while (try? await Task.sleep(for: heartbeat)) != nil { mailbox.post(.heartbeat) }
            }
        }
    }

    /// Looks whether the API is there, again and again, until the task is cancelled. Whoever does so beside others does not
    /// add to the requests.
    ///
    /// - Parameter pause: How long to wait after the last request, whoever has made it.
    func lookOut(every pause: Duration) async {
        while (try? await Task.sleep(for: pause)) != nil {
            await availability.look(ifNotFor: pause) { () throws(PictureAPIError) in try await api.check() }
        }
    }
}
