"""An index that is kept in the store, for a catalogue that is too large to be held in memory."""
